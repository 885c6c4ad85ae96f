package org.apache.spark.sql.firesteel

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
 */
object ParquetFiles {

  def relation(session: SparkSession, paths: Seq[Path], schema: StructType): BaseRelation = {
    val own = session.asInstanceOf[classic.SparkSession]
    val conf = own.sessionState.newHadoopConf()
    val qualified = paths.map(path => path.getFileSystem(conf).makeQualified(path))
    HadoopFsRelation(
      new InMemoryFileIndex(own, qualified, Map.empty, Some(schema)),
      partitionSchema = new StructType,
      dataSchema = schema.asNullable,
      bucketSpec = None,
      fileFormat = new ParquetFileFormat,
      options = Map.empty
    )(own)
  }

  def rows(session: SparkSession, paths: Seq[Path], schema: StructType): DataFrame =
    session.baseRelationToDataFrame(relation(session, paths, schema))
}
