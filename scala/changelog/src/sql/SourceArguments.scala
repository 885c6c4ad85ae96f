package io.firesteel.changelog.sql

import io.firesteel.core.errors.FiresteelAnalysisException

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, FunctionTableSubqueryArgumentExpression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The arguments of a table function, by position or by name.
 *
 * @param expected the call as it should be, for errors
 */
private[changelog] class TableArguments(
    function: String,
    names: Seq[String],
    arguments: Seq[Expression],
    expected: String) {

  private val byName: Map[String, Expression] = {
    val read = arguments.zipWithIndex.map {
      case (NamedArgumentExpression(name, value), _) => name.toLowerCase(Locale.ROOT) -> value
      case (value, i) if i < names.size => names(i) -> value
      case _ => throw wrong()
    }
    if (read.map(_._1).distinct.size < read.size || !read.forall(r => names.contains(r._1))) {
      throw wrong()
    }
    read.toMap
  }

  final def apply(name: String): Option[Expression] = byName.get(name)

  final def wrong(): Throwable =
    new FiresteelAnalysisException(
      "FIRESTEEL_WRONG_ARGUMENTS",
      Map(
        "call" -> arguments.map(_.sql).mkString(s"$function(", ", ", ")"),
        "expected" -> expected))
}

/** The arguments of a function over a table whose rows are changes. */
final private[changelog] class SourceArguments(
    val function: String,
    names: Seq[String],
    arguments: Seq[Expression])
  extends TableArguments(
    function,
    names,
    arguments,
    (s"TABLE(${names.head})" +: names.tail).mkString(s"$function(", ", ", ")")) {

  /** The plan of `TABLE(t)`, without `PARTITION BY` and `ORDER BY`. */
  def table(name: String): LogicalPlan = apply(name) match {
    case Some(of: FunctionTableSubqueryArgumentExpression)
        if !of.hasRepartitioning && of.orderByExpressions.isEmpty =>
      of.plan
    case _ => throw wrong()
  }

  def text(name: String): Option[String] = apply(name).map(constant).collect {
    case text: UTF8String => text.toString
    case other if other != null => throw wrong()
  }

  /** One name or an array of names. */
  def names(name: String): Seq[String] = apply(name) match {
    case None => Nil
    case Some(list) =>
      (constant(list), list.dataType) match {
        case (null, _) => Nil
        case (one: UTF8String, _) => Seq(one.toString)
        case (many: ArrayData, ArrayType(_: StringType, _)) =>
          (0 until many.numElements()).map { i =>
            if (many.isNullAt(i)) throw wrong()
            many.getUTF8String(i).toString
          }
        case (many: ArrayData, _) if many.numElements() == 0 => Nil
        case _ => throw wrong()
      }
  }

  private def constant(argument: Expression): Any =
    if (argument.foldable) argument.eval() else throw wrong()
}
