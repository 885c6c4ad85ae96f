package io.firesteel.shuffle

import io.firesteel.core.decide.{Decisions, Decline}
import io.firesteel.core.plans.GrowingShuffle
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleExchangeLike}

/**
 * Shuffles that another extension has made its own, such as those of DataFusion Comet. Its
 * operators beside them depend on them, so they stay, and that is recorded where a shuffle by the
 * same keys would have gone.
 */
private[shuffle] object OtherShuffle {

  /** Records each such shuffle above another by more keys. */
  def decline(plan: SparkPlan): Unit =
    if (Decline.switchedOff("shuffle", ShuffleConf.ENABLED).isEmpty) {
      plan.foreach {
        case Keyed(upper, keys) if isCoarser(upper.child, keys) =>
          val why = ShuffleDecline.OtherExchange(keys.map(_.sql).mkString(", "), upper.nodeName)
          val subject = upper.find(_.logicalLink.isDefined).flatMap(_.logicalLink)
          subject.foreach(Decisions.decline(_, RemoveRedundantShuffle.name, why))
        case _ => ()
      }
    }

  /** Whether the next shuffles below, in one of the inputs, have these keys and more. */
  private def isCoarser(input: SparkPlan, keys: Seq[Expression]): Boolean = input match {
    case Keyed(_, more) =>
      more.size > keys.size && keys.forall(key => more.exists(_.semanticEquals(key)))
    case _: ShuffleExchangeLike => false
    case other => other.children.exists(isCoarser(_, keys))
  }

  private object Keyed {
    def unapply(plan: SparkPlan): Option[(ShuffleExchangeLike, Seq[Expression])] = plan match {
      case _: ShuffleExchangeExec | _: GrowingShuffle => None
      case shuffle: ShuffleExchangeLike =>
        shuffle.outputPartitioning match {
          case hash: HashPartitioning => Some((shuffle, hash.expressions))
          case _ => None
        }
      case _ => None
    }
  }
}
