package io.firesteel.lookup

import io.firesteel.core.decide.FiredOperator
import io.firesteel.core.plans.GrowsRows
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSeq, AttributeSet, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.UnaryExecNode

/** What the operators of a keyed lookup join have in common, whoever answers the keys. */
private[lookup] trait LookupJoinNode extends UnaryExecNode with GrowsRows with FiredOperator {

  /** The dimension, as the query knows it. */
  def table: String

  /** The columns of `child` that leave; a custom shuffle adds its own to `child`. */
  def leftOutput: Seq[Attribute]

  /** Values to look up by, of the types of `keyColumns`. */
  def keys: Seq[Expression]

  /** The dimension's columns that they are compared with. */
  def keyColumns: Seq[Attribute]

  /** The columns of the store's answers. */
  def columns: Seq[Attribute]

  /** What is joined, over `columns`. */
  def projection: Seq[NamedExpression]

  def joinType: JoinType
  def options: LookupOptions
  def shuffle: ShuffleDecision

  /** In a word, who answers. */
  def connector: String

  /** Which answers are wanted, over `columns`. */
  def filters: Option[Expression]

  /** What is left of the join's condition, over both sides. */
  def residual: Option[Expression]

  /** Those of `columns` that the query has a use for. */
  def wanted: Seq[Attribute] = {
    val used = AttributeSet(keyColumns) ++
      AttributeSet.fromAttributeSets((projection ++ filters).map(_.references))
    columns.filter(used.contains)
  }

  private def right: Seq[Attribute] = projection.map(_.toAttribute)

  // No child gives the dimension's columns. In a canonical plan they are told apart by their places
  // among these, and by what `named` leaves them: without both a lookup of one column would be taken
  // for that of another, and its exchange used again.
  override lazy val allAttributes: AttributeSeq = new AttributeSeq(child.output ++ columns)

  /** The columns of the canonical plan under their own names, which a canonical attribute lacks. */
  protected def named(canonical: Seq[Attribute]): Seq[Attribute] =
    canonical.zip(columns).map { case (column, own) => column.withName(own.name) }

  override def output: Seq[Attribute] =
    leftOutput ++ (if (joinType == LeftOuter) right.map(_.withNullability(true)) else right)

  override def producedAttributes: AttributeSet =
    AttributeSet(columns) ++ AttributeSet(keyColumns) ++ AttributeSet(right)

  override def outputPartitioning: Partitioning = shuffle match {
    case _: ShuffleDecision.Custom => UnknownPartitioning(child.outputPartitioning.numPartitions)
    case _ => child.outputPartitioning
  }

  /** A guess: rows become wider, and may have several matches. */
  override def growth: Int = 4

  override def firedValues: Map[String, String] =
    LookupValues.of(this).toMap

  override protected def stringArgs: Iterator[Any] = LookupValues.shown(LookupValues.of(this))
}
