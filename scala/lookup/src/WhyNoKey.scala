package io.firesteel.lookup

import scala.jdk.OptionConverters._

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EqualTo, Expression, KnownFloatingPointNormalized, PredicateHelper}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.firesteel.CastOf

/** The error for a join without a key: the equality nearest to one, and the reason. */
private[lookup] object WhyNoKey extends PredicateHelper {

  /** @param names the columns for which the join has a value; the store takes none of them */
  def apply(query: LookupQuery, relation: LookupRelation, names: Seq[String]): Throwable = {
    val reasons = relation.connector match {
      case Connector.Jvm(table) =>
        names.flatMap(name => table.whyNoKey(name).toScala.map(name -> _))
      case _ => Nil
    }
    if (reasons.nonEmpty) LookupErrors.unusableKey(relation.name, reasons)
    else {
      cast(query, relation).getOrElse(
        LookupErrors.noKey(
          relation.name,
          names,
          query.join.condition.fold("none")(_.sql)))
    }
  }

  /** Spark compares values of two types in a common type, and no store knows that one. */
  private def cast(query: LookupQuery, relation: LookupRelation): Option[Throwable] =
    (query.join.condition.toSeq ++ query.filters)
      .flatMap(splitConjunctivePredicates)
      .collect { case EqualTo(a, b) => Seq(a -> b, b -> a) }
      .flatten
      .flatMap { case (theirs, mine) =>
        val inTerms = plain(DimensionChain.replace(theirs, query.projection))
        Option(inTerms).collect {
          case compared @ CastOf(column: Attribute)
              if isKey(column, relation) && isOfOtherSide(mine, query) =>
            val value = written(plain(mine))
            LookupErrors.keyOfAnotherType(
              relation.name,
              column,
              compared.dataType.sql,
              s"${column.name} = ${value.sql}",
              s"${column.name} = CAST(${value.sql} AS ${column.dataType.sql})")
        }
      }
      .headOption

  private def isKey(column: Attribute, relation: LookupRelation): Boolean =
    relation.outputSet.contains(column) && relation.keysAmong(Seq(column.name)).nonEmpty

  private def isOfOtherSide(value: Expression, query: LookupQuery): Boolean =
    value.references.subsetOf(query.left.outputSet)

  private def plain(value: Expression): Expression = value match {
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(float)) => plain(float)
    // The outermost of several nested casts has the compared type.
    case outer: Cast =>
      outer.child match {
        case inner: Cast => plain(outer.withNewChildren(Seq(inner.child)))
        case _ => outer
      }
    case other => other
  }

  /** Without the casts that Spark has added. */
  private def written(value: Expression): Expression = value match {
    case cast: Cast if cast.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => written(cast.child)
    case other => other
  }
}
