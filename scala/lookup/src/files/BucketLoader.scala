package io.firesteel.lookup.files

import java.io.{Closeable, FileNotFoundException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.TaskContext
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.firesteel.Files

/**
 * Reads the files of a bucket into an index, for one task, in the thread that asks.
 *
 * It computes each row's bucket if the columns allow it. Checking the first row of a file would not
 * be enough: half of the rows of a table with 8 buckets are also right for 16.
 */
private[files] final class BucketLoader(source: BucketSource, task: TaskContext) {
  import BucketLoader._

  private[this] val columns = source.origin.columns
  private[this] val keyOf = LookupKey.compile(source.origin.keys, columns)
  private[this] val rowOf = UnsafeProjection.create(columns)
  private[this] val bucketOf = BucketRule.of(source.layout, columns).map(_.compile())

  /** The bucket and the bytes read for it. The caller owns its memory. */
  def load(bucket: Int): (BucketIndex, Long) = {
    val bytesRead = Files.bytesReadFromNow()
    val memory = new StorageMemory(
      Files.storage(),
      s"bucket_$bucket",
      () => LoadedBuckets.dropIdle(),
      FilesErrors.noMemory(bucket, source.layout.folder, _, _, _))
    val builder = new BucketIndexBuilder(memory)
    var built = false
    try {
      source.files(bucket).foreach(addFile(_, bucket, builder))
      val index = builder.result()
      built = true
      (index, bytesRead())
    } finally if (!built) memory.giveBackAll()
  }

  private def addFile(file: BucketFile, bucket: Int, builder: BucketIndexBuilder): Unit = {
    val rows = new FileRows(file, source)
    try {
      var count = 0L
      while (rows.hasNext) {
        if (count % rowsBetweenChecks == 0) Files.killTaskIfInterrupted(task)
        // Copied first: on Spark 4.0 a key computed from a columnar row loses an array's nulls.
        val row = rowOf(rows.next())
        if (bucketOf.exists(_(row) != bucket)) {
          throw FilesErrors.wrongBucket(file.path, count, bucket, source.layout)
        }
        val key = keyOf(row)
        // No query asks for a null.
        if (!key.anyNull()) builder.add(key, row)
        count += 1
      }
    } finally rows.close()
  }
}

private[files] object BucketLoader {
  private val rowsBetweenChecks: Long = 4096
}

/** The rows of one file, with Spark's errors; skips corrupt and missing files as Spark does. */
private final class FileRows(file: BucketFile, source: BucketSource) extends Closeable {

  private[this] val path = SparkPath.fromPath(new Path(file.path))
  private[this] var rows: Iterator[InternalRow] = _

  def hasNext: Boolean =
    try {
      if (rows == null) rows = open()
      rows.hasNext
    } catch {
      case _: FileNotFoundException if source.skipMissing => false
      case gone: FileNotFoundException => throw Files.readError(path.urlEncoded, gone)
      case NonFatal(thrown) =>
        // A reader that is interrupted fails as one of a corrupt file does.
        if (source.skipCorrupt && !isInterrupted(thrown) && Files.isCorruptFile(thrown)) false
        else throw Files.readError(path.urlEncoded, thrown)
    }

  private def isInterrupted(thrown: Throwable): Boolean = Thread.currentThread.isInterrupted ||
    Iterator.iterate(thrown)(_.getCause).takeWhile(_ != null).take(16).exists {
      case _: ClosedByInterruptException | _: InterruptedException => true
      case cut: InterruptedIOException => !cut.isInstanceOf[SocketTimeoutException]
      case _ => false
    }

  def next(): InternalRow = rows.next()

  override def close(): Unit = rows match {
    case open: Closeable => open.close()
    case _ => ()
  }

  private def open(): Iterator[InternalRow] = source.reader(
    PartitionedFile(
      InternalRow.empty,
      path,
      0L,
      file.length,
      modificationTime = file.modified,
      fileSize = file.length))
}
