package org.apache.spark.sql.firesteel

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, DataFrame, SparkSession}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, InMemoryFileIndex}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.types.StructType

/**
 * Spark's Parquet source on files and folders with literal names.
 *
 * It does not use `DataSource` with globbing off: that lists a name that looks like a pattern more
 * than once (SPARK-58518).
 *
 * A file that is not there, or cannot be read, is an error, whatever the session says of others.
 */
object ParquetFiles {

  def relation(session: SparkSession, paths: Seq[Path], schema: StructType): BaseRelation = {
    val own = session.asInstanceOf[classic.SparkSession]
    val conf = own.sessionState.newHadoopConf()
    val qualified = paths.map(path => path.getFileSystem(conf).makeQualified(path))
    val index = new InMemoryFileIndex(own, qualified, strict, Some(schema))
    // Listing leaves out what is not there.
    val listed = index.allFiles().map(_.getPath).toSet
    qualified.find(path => path.getName.endsWith(".parquet") && !listed(path)).foreach { path =>
      throw new FileNotFoundException(s"$path is not there")
    }
    HadoopFsRelation(
      index,
      partitionSchema = new StructType,
      dataSchema = schema.asNullable,
      bucketSpec = None,
      fileFormat = new ParquetFileFormat,
      options = strict
    )(own)
  }

  private val strict = Map("ignoreMissingFiles" -> "false", "ignoreCorruptFiles" -> "false")

  def rows(session: SparkSession, paths: Seq[Path], schema: StructType): DataFrame =
    session.baseRelationToDataFrame(relation(session, paths, schema))
}
