package io.firesteel.bench

import java.nio.file.Path

import scala.collection.mutable

/** The stores outside Spark that the cases ask. Each starts at its first use. */
final class LookupServers(data: Path, sizes: LookupSizes, progress: Progress)
  extends AutoCloseable {

  private val started = mutable.Buffer.empty[AutoCloseable]

  lazy val slow: SlowStore = keep(new SlowStore(sizes.slowCustomers))

  lazy val postgres: PostgresServer =
    keep(new PostgresServer(data.resolve("postgres"), Seq(sizes.customers, sizes.keys), progress))

  private def keep[A <: AutoCloseable](server: A): A = {
    started += server
    server
  }

  override def close(): Unit = started.foreach(_.close())
}

/**
 * The sizes of the cases.
 *
 * @param rows rows of the streams that are fast to enrich; 5 million on the committed page
 */
final case class LookupSizes(rows: Long) {

  /** 20 million in the database; the stream asks for 200,000 of them. */
  val customers: Long = rows * 4
  val stride: Long = 100
  val keys: Long = customers / stride

  /** A hundred times fewer rows, because a request takes two milliseconds. */
  val zipfKeys: Long = atLeast(rows / 800, 100)
  val zipfRows: Long = zipfKeys * 10
  val uniformKeys: Long = atLeast(rows / 2000, 100)
  val uniformRows: Long = uniformKeys * 10
  val oneByOne: Long = atLeast(rows / 1250, 100)
  val slowCustomers: Long = Seq(zipfKeys, uniformKeys, oneByOne).max

  val bucketed: Long = atLeast(rows / 5, 1000)
  val distinct: Long = atLeast(rows / 5, 1000)

  private def atLeast(wanted: Long, least: Long): Long = math.max(wanted, least)
}
