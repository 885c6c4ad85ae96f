package io.firesteel.sinks.folder

import io.firesteel.sinks.apply.ApplyErrors

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileStatus, FileSystem, Path}
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/**
 * The versions of a folder's table, one file each. The highest number is the current version.
 *
 * A version appears whole or not at all, as in the logs of Spark's checkpoints. Versions are never
 * overwritten: on a local disk Hadoop cannot replace a file without a moment in which it does not
 * exist.
 */
final private[folder] class FolderLog(folder: Path, conf: Configuration) {
  import FolderLog._

  /** The folder of the versions. */
  val path: Path = new Path(folder, "_versions")

  private lazy val files = CheckpointFileManager.create(path, conf)

  def fileSystem: FileSystem = folder.getFileSystem(conf)

  /** None if there is no version. A version that is listed and cannot be read is an error. */
  def newest(): Option[FolderVersion] = {
    // A writer may have removed the version meanwhile: then there is a newer one.
    val looks =
      Iterator.continually(numbers().maxOption).take(attempts).map(_.map(n => (n, read(n))))
    val found = looks.find {
      case Some((_, None)) => false
      case _ => true
    }
    found.getOrElse(throw new FileNotFoundException(
      s"$path lists version ${numbers().maxOption.mkString}, which cannot be read")).flatMap(_._2)
  }

  private def read(number: Long): Option[FolderVersion] =
    try Some(Using.resource(files.open(pathOf(number))) { in =>
        FolderVersion.parse(new String(in.readAllBytes(), UTF_8))
      })
    catch { case _: FileNotFoundException => None }

  /** Commits this version as the newest; fails if there is one of its number, or a later one. */
  def commit(version: FolderVersion): Unit = {
    if (!files.exists(path)) files.mkdirs(path)
    val meanwhile = ApplyErrors.writtenMeanwhile(folder.toString, version.number)
    val file = pathOf(version.number)
    // The file of its number may be forgotten already.
    if (numbers().exists(_ >= version.number)) throw meanwhile
    val out = files.createAtomic(file, overwriteIfPossible = false)
    try {
      out.write(version.json.getBytes(UTF_8))
      out.close()
    } catch {
      case _: FileAlreadyExistsException => throw meanwhile
      case e: Throwable =>
        out.cancel()
        throw e
    }
    // A file manager for an object store may only log that it could not write.
    if (!read(version.number).exists(_.json == version.json)) throw meanwhile
  }

  /**
   * Removes earlier versions, of which each lists the files that have been replaced, and unfinished
   * files of dead writers that are older than `millis`. A reader opens the version that it has listed
   * at once, or looks again.
   */
  def forget(before: Long, millis: Long): Unit = {
    val now = System.currentTimeMillis()
    def age(file: FileStatus) = now - file.getModificationTime
    // A file manager need not list what is unfinished.
    fileSystem.listStatus(path).toSeq
      .filter { file =>
        numberOf(file.getPath) match {
          case Some(number) => number < before && age(file) > math.min(millis, openedWithin)
          case None => age(file) > millis
        }
      }
      .foreach(file => files.delete(file.getPath))
  }

  private def numbers(): Seq[Long] =
    if (!files.exists(path)) Nil
    else files.list(path).toSeq.flatMap(file => numberOf(file.getPath))

  private def pathOf(number: Long): Path = new Path(path, f"$number%020d.json")

  private def numberOf(path: Path): Option[Long] =
    Option(path.getName).filter(_.matches("\\d{20}\\.json")).map(_.stripSuffix(".json").toLong)
}

private[folder] object FolderLog {
  private val attempts = 10

  /** Milliseconds between listing a version and opening it, at most. */
  private val openedWithin = 60000L
}
