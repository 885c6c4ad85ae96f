package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, CaseWhen, Coalesce, Expression, If, IsNotNull, IsNull}

/**
 * What stands for the keys of both sides of a full outer join: `coalesce(l.k, r.k)`, as
 * `FULL JOIN … USING (k)` gives, or the same as a `CASE`.
 *
 * Where rows have met, the keys are the same bytes ([[ExactColumn]]); where one side is padded, the
 * other's key is left. So each row lies where a shuffle by this value would have sent it.
 */
private[shuffle] object MergedKey {

  /** Whether it is of this form at all, of columns that may stand for each other. */
  def unapply(key: Expression): Option[Seq[Expression]] =
    Some(parts(key)).filter(found => found.size > 1 && found.forall(isExact))

  /** Whether `key` is made of these keys of the two sides. */
  def isOf(key: Expression, left: Expression, right: Expression): Boolean = key match {
    case MergedKey(found) =>
      val (one, other) = (parts(left), parts(right))
      Hashed.sameKeys(found, one ++ other) || Hashed.sameKeys(found, other ++ one)
    case _ => false
  }

  /** The first of these that is not null is the value. */
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
