package io.firesteel.changelog

import java.io.{ObjectInputStream, ObjectOutputStream}
import java.nio.file.{Files, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.types.StructType

/** A stream over the files of a folder, run by a process that may be killed at any moment. */
final case class KilledQuery(folder: String, sql: String, settings: Seq[(String, String)])
  extends Serializable {

  def source: Path = Path.of(folder, "source")
  def checkpoint: Path = Path.of(folder, "checkpoint")

  /** Where a micro-batch's changes are written, all or none, once more when it is run once more. */
  def written: Path = Path.of(folder, "written")
}

/** Runs queries to the end of their files, side by side. */
object KilledProgram {

  /** What it says when all queries are about to run, and when they have ended. */
  val (running, done) = ("running", "done")

  def main(args: Array[String]): Unit = {
    val spark = session()
    val started = read[Seq[KilledQuery]](Path.of(args(0))).map(start(spark.newSession(), _))
    println(running)
    started.foreach(_.awaitTermination())
    println(done)
    spark.stop()
  }

  private def session(): SparkSession = {
    val session = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .config(ChangelogSuite.settings)
      .withExtensions(ChangelogRoom.install)
      .getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  private def start(spark: SparkSession, query: KilledQuery): StreamingQuery = {
    query.settings.foreach { case (key, value) => spark.conf.set(key, value) }
    spark.readStream
      .schema(StructType.fromDDL(RandomQueries.schema))
      .option("maxFilesPerTrigger", 1)
      .parquet(query.source.toString)
      .createOrReplaceTempView("fed")
    spark
      .sql(s"SELECT *, row_kind() AS op FROM (${query.sql.replace("{t}", "fed")})")
      .writeStream
      .option("checkpointLocation", query.checkpoint.toString)
      .trigger(Trigger.AvailableNow)
      .foreachBatch((rows: DataFrame, batch: Long) => write(query, rows.collect().toSeq, batch))
      .start()
  }

  private def write(query: KilledQuery, rows: Seq[Row], batch: Long): Unit = {
    Files.createDirectories(query.written)
    val making = query.written.resolve(s".$batch")
    save(making, rows.toVector)
    val _ =
      Files.move(making, query.written.resolve(batch.toString), StandardCopyOption.ATOMIC_MOVE)
  }

  /** Every micro-batch's changes, the first one's first. */
  def changes(query: KilledQuery): Seq[Row] =
    if (!Files.exists(query.written)) Nil
    else {
      val batches = Using.resource(Files.list(query.written))(_.iterator.asScala.toSeq)
      batches
        .filterNot(_.getFileName.toString.startsWith("."))
        .sortBy(_.getFileName.toString.toInt)
        .flatMap(read[Seq[Row]])
    }

  def save(file: Path, value: Serializable): Unit =
    Using.resource(new ObjectOutputStream(Files.newOutputStream(file)))(_.writeObject(value))

  private def read[T](file: Path): T =
    Using.resource(
      new ObjectInputStream(Files.newInputStream(file)))(_.readObject().asInstanceOf[T])
}
