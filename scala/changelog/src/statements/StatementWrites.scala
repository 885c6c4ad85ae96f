package io.firesteel.changelog.statements

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.firesteel.Files.hadoopConf
import org.apache.spark.sql.firesteel.MicroBatch
import org.apache.spark.sql.streaming.OutputMode

/**
 * Gives each statement its rows of a micro-batch.
 *
 * @param statements in the order in which they write
 * @param parallel whether they write side by side
 * @param current where targets are found by their names
 */
final private[statements] class StatementWrites(
    statements: Seq[StatementWrites.To],
    checkpoint: String,
    parallel: Boolean,
    current: CurrentCatalog) {

  def apply(rows: DataFrame, batch: Long): Unit = {
    val session = rows.sparkSession
    current.use(session)
    val files = new StatementFiles(checkpoint, hadoopConf(session, Map.empty))
    val written = files.written(batch).toSet
    val writes = statements.zipWithIndex.filterNot { case (its, _) => written(its.name) }.map {
      case (its, i) => () => {
          write(its, rows.where(s"statement = $i").select(s"s$i.*"), batch, session)
          files.note(batch, its.name)
        }
    }
    if (parallel) together(writes) else writes.foreach(_())
  }

  private def write(
      its: StatementWrites.To,
      rows: DataFrame,
      batch: Long,
      session: SparkSession): Unit = {
    val context = session.sparkContext
    val query = MicroBatch.query(context)
    val properties = Seq(
      // By it a target tells a second statement from a repeated micro-batch.
      MicroBatch.statementKey -> its.name,
      "spark.job.description" -> (Option(context.getLocalProperty("spark.job.description")) ++
        Seq(s"statement = ${its.name}")).mkString("<br/>")
    )
    val before = properties.map { case (name, _) => name -> context.getLocalProperty(name) }
    properties.foreach { case (name, value) => context.setLocalProperty(name, value) }
    try its.target.write(rows, Micro(query, its.name, its.mode, batch))
    catch {
      case failed: Throwable =>
        failed.addSuppressed(
          new RuntimeException(s"in statement '${its.name}', micro-batch $batch"))
        throw failed
    } finally before.foreach { case (name, value) => context.setLocalProperty(name, value) }
  }

  /** The first failure is raised when all have ended. */
  private def together(writes: Seq[() => Unit]): Unit = {
    val results = Array.fill[Try[Unit]](writes.size)(Success(()))
    val threads = writes.zipWithIndex.map { case (write, i) =>
      // A thread inherits the session and the properties of the query.
      new Thread(() => results(i) = tryAll(write))
    }
    threads.foreach(_.start())
    try threads.foreach(_.join())
    catch {
      case stopped: InterruptedException =>
        threads.foreach(_.interrupt())
        threads.foreach(_.join())
        throw stopped
    }
    results.foreach(_.get)
  }

  private def tryAll(write: () => Unit): Try[Unit] =
    try Success(write())
    catch { case failed: Throwable => Failure(failed) }
}

private[statements] object StatementWrites {

  /** A statement's name, output mode and target. */
  final case class To(name: String, mode: OutputMode, target: StatementTarget)
}
