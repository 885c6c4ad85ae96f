package io.firesteel.sinks

import io.firesteel.sinks.apply.{AppliedBy, ApplyErrors, ApplyOptions, ChangeSet}
import io.firesteel.sinks.folder.FolderTarget
import io.firesteel.sinks.postgres.PostgresTarget
import org.apache.spark.sql.{DataFrame, SaveMode, SQLContext}
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider, DataSourceRegister, RelationProvider}
import org.apache.spark.sql.types.StructType

/**
 * The data source `firesteel-table`: a table kept equal to a changelog. Each micro-batch is applied
 * exactly once.
 *
 * {{{
 * changes.writeStream.foreachBatch { (batch: DataFrame, id: Long) =>
 *   batch.write.format("firesteel-table").mode("append")
 *     .option("changes.keys", "category, item")
 *     .option("changes.batch-id", id)
 *     .save("/tables/trending")
 * }
 * spark.read.format("firesteel-table").load("/tables/trending")
 * }}}
 *
 * With a path the table is a folder of Parquet files. Without a path it is a PostgreSQL table,
 * given by the options of Spark's JDBC source: `url`, `dbtable`, `user`, `password` and the
 * driver's own.
 *
 * Options:
 *  - `changes.keys`: columns that identify a row, separated by commas or as a JSON array
 *  - `changes.batch-id`: the number of the micro-batch
 *  - `changes.op`: the row kind column, by default `op`, `row_kind()` or `row_kind`
 *  - `changes.query-id`: a name of the writer, by default the streaming query's id
 *  - `changes.upserts`: whether updates have no `-U` row
 *  - `changes.buckets`: number of buckets of a new folder, by default 8
 *  - `changes.retention`: how long replaced files of a folder are kept for readers, by default
 *    `10min`
 */
final class ChangelogTableSource
  extends CreatableRelationProvider
  with RelationProvider
  with DataSourceRegister {

  override def shortName(): String = "firesteel-table"

  /** Spark names the source in its errors so. */
  override def toString: String = shortName()

  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      parameters: Map[String, String],
      data: DataFrame): BaseRelation = {
    if (mode != SaveMode.Append) throw ApplyErrors.badOption("mode", mode.toString, "append")
    val options = ApplyOptions.of(parameters)
    val changes = ChangeSet.of(data, options)
    val by = AppliedBy.of(options, data.sparkSession.sparkContext)
    val target = options.path match {
      case Some(folder) => new FolderTarget(data.sparkSession, folder, options)
      case None => new PostgresTarget(options.database)
    }
    target.write(changes, by)
    Written(context, changes.schema)
  }

  override def createRelation(context: SQLContext, parameters: Map[String, String]): BaseRelation =
    new FolderTarget(
      context.sparkSession,
      parameters.getOrElse(ApplyOptions.path, throw ApplyErrors.missingOption(ApplyOptions.path)),
      ApplyOptions.of(parameters + (ApplyOptions.keys -> "*") + (ApplyOptions.batch -> "0"))
    ).read()
}

/** The relation that Spark expects after a write. */
final private[sinks] case class Written(sqlContext: SQLContext, schema: StructType)
  extends BaseRelation
