package io.firesteel.sinks

import io.firesteel.sinks.apply.{AppliedBy, ApplyErrors, ApplyOptions, ChangeSet}
import io.firesteel.sinks.folder.FolderTarget
import io.firesteel.sinks.postgres.PostgresTarget
import org.apache.spark.sql.{DataFrame, SaveMode, SQLContext}
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider, DataSourceRegister, RelationProvider}
import org.apache.spark.sql.types.StructType

/**
 * The data source `firesteel-table`: a table that a changelog makes, micro-batch by micro-batch, each
 * applied exactly once.
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
 * With a path the table is a folder of Parquet files, else it is PostgreSQL's, by the options of Spark's
 * JDBC source: `url`, `dbtable`, `user`, `password` and the driver's own.
 *
 * Options:
 *  - `changes.keys`: columns that identify a row, between commas or as JSON
 *  - `changes.batch-id`: the micro-batch's number
 *  - `changes.op`: the column of row kinds, by default `op` or `row_kind()`
 *  - `changes.query-id`: who writes, by default the streaming query's id
 *  - `changes.upserts`: that updates come without the rows they replace
 *  - `changes.buckets`: into how many parts a new folder's rows are split, by default 8
 *  - `changes.retention`: how long a folder's replaced files stay for readers, by default `10min`
 */
final class ChangelogTableSource
  extends CreatableRelationProvider
  with RelationProvider
  with DataSourceRegister {

  override def shortName(): String = "firesteel-table"

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

/** What Spark wants to know of what it has written. */
final private[sinks] case class Written(sqlContext: SQLContext, schema: StructType)
  extends BaseRelation
