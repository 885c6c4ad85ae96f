package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, KnownFloatingPointNormalized}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.internal.SQLConf

/**
 * The values that a lookup shows in plans, by Flink's names: the keys first, then the conditions,
 * then the options.
 */
private[lookup] object LookupValues {

  def of(join: LookupJoinNode): Seq[(String, String)] = {
    val lookup =
      join.keyColumns.zip(join.keys).map { case (column, key) => s"${column.name}=${text(key)}" }
    Seq(
      "table" -> join.table,
      "connector" -> join.connector,
      "joinType" -> join.joinType.sql,
      "lookup" -> lookup.mkString(", ")) ++
      join.filters.map("filters" -> text(_)) ++
      join.residual.map("where" -> text(_)) ++
      Seq("columns" -> names(join.wanted), "cache" -> join.options.cache.toString) ++
      how(join.options) :+
      ("shuffle" -> join.shuffle.text)
  }

  private def how(options: LookupOptions): Seq[(String, String)] = {
    val mode = if (options.ordered) "ORDERED" else "UNORDERED"
    options.async.filter(identity).toSeq.map(_ =>
      "async" -> s"$mode, ${options.timeoutMillis}ms, ${options.capacity}") ++
      options.retry.map(r =>
        "retry" -> s"lookup_miss, FIXED_DELAY, ${r.delayMillis}ms, ${r.maxAttempts}")
  }

  def names(columns: Seq[Attribute]): String =
    truncatedString(columns.map(_.name), ", ", SQLConf.get.maxToStringFields)

  /** The arguments of a node as its text shows them. */
  def shown(values: Seq[(String, String)]): Iterator[Any] =
    values.iterator.map { case (name, value) => s"$name=[$value]" }

  /** As the user wrote it, without the normalisation of floats, which is internal. */
  private def text(expression: Expression): String =
    expression.transform { case KnownFloatingPointNormalized(NormalizeNaNAndZero(value)) =>
      value
    }.sql
}
