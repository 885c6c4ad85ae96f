package io.firesteel.bench

import java.io.{BufferedReader, InputStreamReader}
import java.nio.file.Path

/**
 * A PostgreSQL on this machine with a table of customers, as `build/bench_postgres.py` starts it.
 *
 * @param rows the size of the table `customers_<rows>`, which is made once and kept below `data`
 */
final class PostgresServer(data: Path, rows: Seq[Long], progress: Progress) extends AutoCloseable {

  private val process = new ProcessBuilder(
    Seq(".venv/bin/python", "build/bench_postgres.py", data.toAbsolutePath.toString) ++
      rows.map(_.toString): _*)
    .redirectError(ProcessBuilder.Redirect.INHERIT)
    .start()

  /** URL, user and password. */
  private val address: Array[String] = progress.step("PostgreSQL") {
    val line = new BufferedReader(new InputStreamReader(process.getInputStream)).readLine()
    if (line == null) sys.error("PostgreSQL did not start; what it said is above")
    line.split("[?=&]")
  }

  def options(table: String): Map[String, String] = Map(
    "url" -> address(0),
    "user" -> address(2),
    "password" -> address(4),
    "dbtable" -> table)

  /** The process ends when its input ends. */
  override def close(): Unit = {
    process.getOutputStream.close()
    val _ = process.waitFor()
  }
}
