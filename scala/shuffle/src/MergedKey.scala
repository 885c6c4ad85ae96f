package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, CaseWhen, Coalesce, Expression, If, IsNotNull, IsNull}

/**
 * The merged key of a full outer join: `coalesce(l.k, r.k)`, as `FULL JOIN … USING (k)` returns,
 * or the same as a `CASE`.
 *
 * If rows match, both keys have equal bytes ([[ExactColumn]]). If one side is padded, the other
 * side's key is used. So each row is where a shuffle by the merged key would send it.
 */
private[shuffle] object MergedKey {

  /** The columns of an expression of this form, all of them exact. */
  def unapply(key: Expression): Option[Seq[Expression]] =
    Some(parts(key)).filter(found => found.size > 1 && found.forall(isExact))

  /** Whether `key` is the merged key of these two keys. */
  def isOf(key: Expression, left: Expression, right: Expression): Boolean = key match {
    case MergedKey(found) =>
      val (one, other) = (parts(left), parts(right))
      Hashed.sameKeys(found, one ++ other) || Hashed.sameKeys(found, other ++ one)
    case _ => false
  }

  /** The value is the first of these that is not null. */
  private def parts(key: Expression): Seq[Expression] = key match {
    case Coalesce(children) => children.flatMap(parts)
    case CaseWhen(Seq((test, value)), Some(other)) => chosen(test, value, other).getOrElse(Seq(key))
    case If(test, value, other) => chosen(test, value, other).getOrElse(Seq(key))
    case _ => Seq(key)
  }

  private def chosen(
      test: Expression,
      value: Expression,
      other: Expression): Option[Seq[Expression]] = test match {
    case IsNotNull(tested) if tested.semanticEquals(value) => Some(parts(value) ++ parts(other))
    case IsNull(tested) if tested.semanticEquals(other) => Some(parts(other) ++ parts(value))
    case _ => None
  }

  private def isExact(part: Expression): Boolean = part match {
    case column: Attribute => ExactColumn.isExact(column.dataType)
    case cast => ExactColumn.underCasts(cast).isDefined
  }
}
