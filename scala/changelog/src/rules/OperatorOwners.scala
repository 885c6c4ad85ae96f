package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.share.SharedPlansExec
import io.firesteel.changelog.statements.StatementRowsExec

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.streaming.{StatefulOperator, StateStoreWriter}

/** Which part or statement of a set each operator with state belongs to. */
private[rules] object OperatorOwners {

  /**
   * The owners of all operators in the order of their numbers, which count from 0. An owner's
   * operators have the same order at each start.
   */
  def of(plan: SparkPlan): Seq[(String, StatefulOperator)] = {
    val owned = plan.collect {
      case SharedPlansExec(parts, children) => parts.zip(children).collect {
          case (part, child) if part.key.nonEmpty => operators(child, s"part ${part.key}")
        }.flatten
      case statement: StatementRowsExec => operators(statement, s"statement ${statement.name}")
    }.flatten
    owned.groupBy(_._1).toSeq.sortBy(_._1).map { case (_, its) =>
      // Spark's own aggregate reads its state by one operator and writes it by another.
      its.map(_._2).maxBy(_._2.isInstanceOf[StateStoreWriter])
    }
  }

  private def operators(
      plan: SparkPlan,
      owner: String): Seq[(Long, (String, StatefulOperator))] = plan.collect {
    case operator: StatefulOperator if operator.stateInfo.nonEmpty =>
      operator.stateInfo.get.operatorId -> (owner -> operator)
  }
}
