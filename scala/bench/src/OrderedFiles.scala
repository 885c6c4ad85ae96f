package io.firesteel.bench

import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.DataFrame

/** Parquet files that a stream reads in the order of their numbers: their times have that order. */
object OrderedFiles {

  /** Writes rows as one file of a folder. */
  def write(rows: DataFrame, folder: Path, number: Int): Unit = {
    val written = folder.resolve(s"_$number")
    rows.coalesce(1).write.parquet(written.toString)
    val file = Using.resource(Files.list(written)) {
      _.iterator.asScala.find(_.toString.endsWith(".parquet")).get
    }
    val named = folder.resolve(s"$number.parquet")
    Files.move(file, named)
    Files.setLastModifiedTime(named, FileTime.fromMillis(1700000000000L + number * 1000L))
    WholeFolder.delete(written)
  }
}
