package io.firesteel.lookup

import io.firesteel.core.decide.FiredOperator
import io.firesteel.core.plans.GrowsRows
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSeq, AttributeSet, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.UnaryExecNode

/**
 * Common parts of the operators of a keyed lookup join, for connectors on the JVM and in Python.
 */
private[lookup] trait LookupJoinNode extends UnaryExecNode with GrowsRows with FiredOperator {

  /** The dimension's name in the query. */
  def table: String

  /** The columns of `child` to emit. A custom shuffle adds one of its own to `child`. */
  def leftOutput: Seq[Attribute]

  /** Values to look up by, of the types of `keyColumns`. */
  def keys: Seq[Expression]

  /** The dimension's columns that the keys are compared with. */
  def keyColumns: Seq[Attribute]

  /** The columns of the store's answers. */
  def columns: Seq[Attribute]

  /** The emitted columns of the dimension, over `columns`. */
  def projection: Seq[NamedExpression]

  def joinType: JoinType
  def options: LookupOptions
  def shuffle: ShuffleDecision

  /** The connector in one word. */
  def connector: String

  /** Conditions on the answers, over `columns`. */
  def filters: Option[Expression]

  /** The rest of the join's condition, over both sides. */
  def residual: Option[Expression]

  /** Those of `columns` that the query needs. */
  def wanted: Seq[Attribute] = {
    val used = AttributeSet(keyColumns) ++
      AttributeSet.fromAttributeSets((projection ++ filters).map(_.references))
    columns.filter(used.contains)
  }

  private def right: Seq[Attribute] = projection.map(_.toAttribute)

  // No child has the dimension's columns. A canonical plan identifies them by their places and by
  // the names that `named` keeps. Without both, a lookup of one column would equal a lookup of
  // another, and Spark would reuse its exchange.
  override lazy val allAttributes: AttributeSeq = new AttributeSeq(child.output ++ columns)

  /** The columns of the canonical plan with their names, which a canonical attribute lacks. */
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

  /** An estimate: rows become wider, and may have several matches. */
  override def growth: Int = 4

  override def firedValues: Map[String, String] =
    LookupValues.of(this).toMap

  override protected def stringArgs: Iterator[Any] = LookupValues.shown(LookupValues.of(this))
}
