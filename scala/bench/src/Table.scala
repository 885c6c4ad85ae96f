package io.firesteel.bench

import org.apache.spark.sql.{DataFrame, SparkSession}

/**
 * A generated table, as data. Its content follows from this description.
 *
 * @param columns name and SQL expression over `id`, which runs from 0 to `rows` - 1
 * @param files the number of Parquet files, each with a consecutive range of ids in order
 * @param buckets how the table is clustered and sorted, if it is
 * @param lines the schema that Spark reads the table with, whose one column is lines of JSON files
 */
final case class Table(
    name: String,
    rows: Long,
    columns: Seq[(String, String)],
    files: Int = 8,
    buckets: Option[Buckets] = None,
    lines: Option[String] = None) {

  /** What its content follows from. Folders that exist have names made of it. */
  def content: String = s"Table($name,$rows,$columns,$files,$buckets)"

  /** The rows of ids `from` to `to`, in the given number of partitions. */
  def some(spark: SparkSession, from: Long, to: Long, partitions: Int): DataFrame =
    spark
      .range(from, to, 1, partitions)
      .selectExpr(columns.map { case (name, sql) => s"$sql AS $name" }: _*)
}

/** One file per bucket of `by`, sorted by `by` and then by `sortedBy`. */
final case class Buckets(number: Int, by: String, sortedBy: String)
