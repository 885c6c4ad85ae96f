package io.firesteel.lookup.files

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.datasources.BucketingUtils

/** One version of a file, identified by length and time. */
private[files] final case class BucketFile(path: String, length: Long, modified: Long)

/** Finds the files of each bucket in a folder. After appends a bucket has several files. */
private[files] object BucketFiles {

  /** The files of each bucket, by its number. */
  def of(layout: BucketLayout, conf: Configuration): IndexedSeq[Seq[BucketFile]] = {
    val byBucket = list(layout.folder, conf)
      .map(s => BucketFile(s.getPath.toString, s.getLen, s.getModificationTime))
      .groupBy(bucketOf(_, layout.buckets))
    IndexedSeq.tabulate(layout.buckets)(byBucket.getOrElse(_, Nil).sortBy(_.path))
  }

  /** Every file with data, as Spark lists them: without hidden and empty ones. */
  def list(folder: String, conf: Configuration): Seq[FileStatus] = {
    val path = new Path(folder)
    val found =
      try path.getFileSystem(conf).listStatus(path).toSeq
      catch { case _: FileNotFoundException => throw FilesErrors.noFolder(folder) }
    val visible = found.filterNot(status => isHidden(status.getPath.getName))
    visible.find(_.isDirectory).foreach(s => throw FilesErrors.subfolder(s.getPath.toString))
    visible.filter(_.getLen > 0)
  }

  private def isHidden(name: String): Boolean =
    name.startsWith(".") || name.startsWith("_") || name.endsWith("._COPYING_")

  private def bucketOf(file: BucketFile, buckets: Int): Int = {
    val name = new Path(file.path).getName
    val bucket =
      try BucketingUtils.getBucketId(name).getOrElse(throw FilesErrors.noBucketId(file.path))
      // Digits after an underscore that are no bucket number, such as a time.
      catch { case _: NumberFormatException => throw FilesErrors.noBucketId(file.path) }
    if (bucket >= buckets) {
      throw FilesErrors.bucketOutOfRange(file.path, bucket.toString, buckets)
    }
    bucket
  }
}
