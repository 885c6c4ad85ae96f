package io.firesteel.checkpoint

import java.io.BufferedOutputStream
import java.nio.file.{FileAlreadyExistsException => NioFileAlreadyExists, FileSystemException, Files, Path => LocalPath, StandardCopyOption}
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileAlreadyExistsException, FileStatus, FileSystem, LocalFileSystem, Path, PathFilter, RawLocalFileSystem}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.firesteel.CheckpointFiles
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.internal.SQLConf

/**
 * A checkpoint file manager for local disks that starts no process per file.
 *
 * Hadoop starts `chmod` for every file that it creates, unless its native library is loaded, and
 * PySpark does not include that library. With a few state stores this is most of the time of a
 * micro-batch. This class creates files in the JVM, with the permissions of the process's umask.
 * Names, visibility and overwriting are as with Spark's own manager, and either manager can
 * continue the other's checkpoints.
 *
 * Set it with `spark.sql.streaming.checkpointFileManagerClass`. Checkpoints that are not on local
 * disks use Spark's own manager.
 */
class LocalCheckpointFileManager(path: Path, hadoopConf: Configuration)
  extends CheckpointFiles {

  private val manager: CheckpointFileManager = path.getFileSystem(hadoopConf) match {
    case _: LocalFileSystem | _: RawLocalFileSystem => new LocalFiles(path, hadoopConf)
    case _ =>
      val asSparks = new Configuration(hadoopConf)
      asSparks.unset(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key)
      CheckpointFileManager.create(path, asSparks)
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    manager.createAtomic(path, overwriteIfPossible)

  override def open(path: Path): FSDataInputStream = manager.open(path)
  override def list(path: Path, filter: PathFilter): Array[FileStatus] = manager.list(path, filter)
  override def mkdirs(path: Path): Unit = manager.mkdirs(path)
  override def exists(path: Path): Boolean = manager.exists(path)
  override def delete(path: Path): Unit = manager.delete(path)
  override def isLocal: Boolean = manager.isLocal
  override def createCheckpointDirectory(): Path = manager.createCheckpointDirectory()
  override def close(): Unit = CheckpointFiles.close(manager)
}

/** Reads through Hadoop, which starts no process for reads, and writes through the JVM. */
final private class LocalFiles(path: Path, hadoopConf: Configuration)
  extends CheckpointFiles {

  private val fs: FileSystem = {
    val raw = new RawLocalFileSystem
    raw.initialize(raw.getUri, hadoopConf)
    raw
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val to = local(path)
    Files.createDirectories(to.getParent)
    new AtomicFile(to, overwriteIfPossible)
  }

  override def open(path: Path): FSDataInputStream = fs.open(path)

  /**
   * Lists neither Hadoop's checksums, as Spark's own manager, nor unfinished files of a killed
   * writer: if a folder has any file but no offset, Spark refuses it as the checkpoint of another
   * query (`spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart`).
   */
  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    fs.listStatus(path, filter).filterNot { status =>
      val name = status.getPath.getName
      Checksums.isOne(name) || Unfinished.isOne(name)
    }

  override def mkdirs(path: Path): Unit = {
    val _ = Files.createDirectories(local(path))
  }

  override def exists(path: Path): Boolean = Files.exists(local(path))

  override def delete(path: Path): Unit = {
    val _ = fs.delete(path, true) // false if there is none
    Checksums.delete(local(path))
  }

  override def isLocal: Boolean = true

  override def createCheckpointDirectory(): Path = {
    mkdirs(path)
    fs.makeQualified(path)
  }

  private def local(path: Path): LocalPath =
    LocalPath.of(fs.makeQualified(path).toUri.getPath)
}

/** A file that appears whole when it is closed, and never if it is cancelled. */
final private class AtomicFile(to: LocalPath, overwrite: Boolean, making: LocalPath)
  extends CancellableFSDataOutputStream(new BufferedOutputStream(Files.newOutputStream(making)))
  with Logging {

  def this(to: LocalPath, overwrite: Boolean) =
    this(to, overwrite, Unfinished.of(to))

  private var ended = false

  override def close(): Unit = synchronized {
    if (!ended) {
      ended = true
      try {
        underlyingStream.close()
        // That of a file that Spark's own manager may have written here. Beside the file of a writer
        // that was first it stays.
        if (overwrite) {
          Checksums.delete(to)
          val _ = Files.move(making, to, StandardCopyOption.ATOMIC_MOVE)
        } else {
          appear()
          Checksums.delete(to)
        }
      } finally {
        val _ = Files.deleteIfExists(making)
      }
    }
  }

  /** Only one of two concurrent writers succeeds: a link is created only if there is no file. */
  private def appear(): Unit =
    try {
      val _ = Files.createLink(to, making)
    } catch {
      case _: NioFileAlreadyExists => throw thereAlready
      case _: UnsupportedOperationException | _: FileSystemException => // no links here
        if (Files.exists(to)) throw thereAlready
        val _ = Files.move(making, to, StandardCopyOption.ATOMIC_MOVE)
    }

  private def thereAlready = new FileAlreadyExistsException(s"$to is there already")

  override def cancel(): Unit = synchronized {
    if (!ended) {
      ended = true
      try {
        underlyingStream.close()
        val _ = Files.deleteIfExists(making)
      } catch {
        case NonFatal(e) => logWarning(s"Could not take $making away", e)
      }
    }
  }
}

/** The name of an unfinished file, as Spark's own manager has it. */
private object Unfinished {

  def of(file: LocalPath): LocalPath =
    file.resolveSibling(s".${file.getFileName}.${UUID.randomUUID()}.tmp")

  def isOne(name: String): Boolean = name.startsWith(".") && name.endsWith(".tmp")
}

/**
 * Hadoop keeps a checksum in a file next to each file; reading a replaced file fails by an old one.
 */
private object Checksums {

  def isOne(name: String): Boolean = name.startsWith(".") && name.endsWith(".crc")

  def delete(of: LocalPath): Unit = {
    val _ = Files.deleteIfExists(of.resolveSibling(s".${of.getFileName}.crc"))
  }
}
