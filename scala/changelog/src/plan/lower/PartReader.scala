package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.common.Digest
import io.firesteel.changelog.plan.{Facts, Inferred, OverAggregate, QueryText, SharedChanges, Stateful, TopN}
import io.firesteel.changelog.plan.share.{SharedPart, SharedView}
import io.firesteel.changelog.sql.InputHint

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.types.MetadataBuilder

/** What reads a shared part, and what is known of the part. */
private[changelog] object PartReader {

  /**
   * Reads a part with the operators of `inferred`, by columns for its own.
   *
   * @param texts, asked see [[io.firesteel.changelog.plan.SharedChanges]]
   */
  def apply(
      part: SharedPart,
      own: Seq[Attribute],
      inferred: Inferred,
      texts: Seq[String],
      asked: Option[Seq[String]])(shown: Seq[Attribute]): LogicalPlan = {
    // No watermark reaches a reader.
    val columns = shown.map { column =>
      val metadata = new MetadataBuilder().withMetadata(column.metadata)
      column.withMetadata(metadata.remove(EventTimeWatermark.delayKey).build())
    }
    if (part.kind.isEmpty && inferred.facts.upsertKeys.isEmpty) SharedView(part, columns)
    else {
      val ids = own.map(_.exprId).zip(columns.map(_.exprId)).toMap
      val facts = inferred.facts
      val trends = facts.trends.collect { case (id, way) if ids.contains(id) => ids(id) -> way }
      val its = Facts(facts.changes, facts.upsertKeys.map(_.map(ids)), trends)
      SharedChanges(part, columns, its, texts, asked)
    }
  }

  /** Whether the topmost state has every row of its input, in the order of their places. */
  def isUnbounded(inferred: Inferred): Boolean =
    inferred.where(_.isInstanceOf[Stateful]).map(_.operator).exists {
      case topN: TopN => !topN.places.isBounded
      case _: OverAggregate => true
      case _ => false
    }

  /**
   * A digest of what a part computes, the same at each start.
   *
   * @param at what reading the part depends on beside its plan
   */
  def keyOf(part: LogicalPlan, at: String): String = {
    val nodes = part.collect { case node =>
      // A column by its place: two inputs may have columns of one name, and names change nothing.
      val places = node.children.flatMap(_.output).zipWithIndex
        .map { case (column, i) => column.exprId -> i.toString }
      val text = new QueryText(places.toMap)
      val others = node match {
        case _: InputHint => Iterator.empty
        case _ => node.productIterator.collect {
            case _: ExistenceJoin => "EXISTENCE" // it has no SQL
            case way: JoinType => way.sql
            case said @ (_: Boolean | _: Int | _: String) => said.toString
          }
      }
      (Iterator(node.nodeName, node.children.size.toString) ++ node.expressions.map(text.of) ++
        others ++ Option.when(node.children.isEmpty)(SourceNames.text(node))).mkString(
        "(",
        ", ",
        ")")
    }
    Digest.of((nodes :+ at).mkString("\n"))
  }

  /** What a part does, for its name. */
  def nameOf(inferred: Inferred): String =
    inferred.where(_.isInstanceOf[Stateful]).fold("rows")(_.operator.name)
}
