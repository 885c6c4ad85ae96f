package io.firesteel.changelog.rules

import io.firesteel.changelog.checkpoint.SourceOffsets
import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.lower.SourceNames
import io.firesteel.changelog.plan.share.SharedPlans
import io.firesteel.changelog.statements.{FromStart, SetRecord, StatementRows}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.firesteel.{MicroBatch, WholeStream}
import org.apache.spark.sql.firesteel.streaming.StreamingRelation

/**
 * Gives statements that begin at the start the whole of their sources in their first micro-batch. The
 * rule runs on the plan of each micro-batch before it is optimized.
 */
final private[changelog] class ReadFromStart(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[FromStart])) plan
    else {
      val batch = MicroBatch.number(session.sparkContext)
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        plan.transformUp { case FromStart(its, child) =>
          if (batch.contains(its.batch)) whole(its).getOrElse(child) else child
        }
      }
    }

  private def whole(its: FromStart.Source): Option[LogicalPlan] =
    for {
      checkpoint <- its.checkpoint
      end <- SourceOffsets(session, checkpoint).of(its.batch, its.place)
    } yield WholeStream.upTo(its.relation, s"$checkpoint/sources/${its.number}", end)
}

private[rules] object ReadFromStart {

  /**
   * Marks the sources of the groups that begin at the start.
   *
   * @param next the next micro-batch
   */
  def mark(
      plan: LogicalPlan,
      record: SetRecord,
      checkpoint: Option[String],
      next: Long): LogicalPlan =
    if (!record.groups.exists(_.from == "start")) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val sources = SourceNames.relations(plan)
      val groups = record.statements.map(its => its.name -> record.groups(its.group)).toMap
      def marked(its: LogicalPlan, group: SetRecord.Group) =
        if (group.from != "start") its
        else its.transformUp {
          case relation @ (_: StreamingRelation | _: StreamingRelationV2) =>
            if (group.batch >= next && !WholeStream.isRepeatable(relation)) {
              throw ChangelogErrors.unsupportedOperator(
                s"The source ${SourceNames.nameOf(relation)}",
                "a statement that begins at the start reads it again, and it cannot be",
                "begin now, if the statement has no state, or start a set of its own"
              )
            }
            val source = new FromStart.Source(
              relation,
              sources.distinct.indexOf(relation),
              sources.indexOf(relation),
              group.batch,
              checkpoint)
            FromStart(source, relation)
        }
      plan.transformUp {
        case shared: SharedPlans =>
          val children = shared.parts.zip(shared.children).map { case (part, child) =>
            part.group.fold(child)(number => marked(child, record.groups(number)))
          }
          shared.copy(children = children ++ shared.children.drop(children.size))
        case its: StatementRows => its.copy(child = marked(its.child, groups(its.name)))
      }
    }
}
