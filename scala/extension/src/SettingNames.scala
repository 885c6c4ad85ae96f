package io.firesteel.extension

import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.commons.text.similarity.LevenshteinDistance
import org.apache.spark.SparkConf
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{Command, CommandResult, LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.command.SetCommand

/**
 * Refuses a `spark.firesteel.*` key that does not exist. A misspelt setting would have no effect.
 *
 * A setting arrives at the session's start, by SQL `SET`, or by `spark.conf.set`, which no
 * extension sees. A key of the last kind is found at the next query. Commands and their results
 * pass, so `SET` and `RESET` work until then.
 */
object SettingNames {

  /** Checks the settings that a session starts with. */
  def checkAtStart(conf: SparkConf): Unit = conf.getAll.foreach { case (key, _) =>
    check(
      key,
      "Take it out of what the session starts with: its builder, --conf, " +
        "spark-defaults.conf.")
  }

  /** Checks an analysed `SET`, or all settings of the session if the plan is a query. */
  def checkAtAnalysis(session: SparkSession)(plan: LogicalPlan): Unit = plan match {
    case SetCommand(Some((key, _))) => check(key, "Correct the name: nothing was set.")
    case _: Command => ()
    case shown if shown.collectLeaves().forall(isAnswer) => ()
    case _ =>
      session.conf.getAll.keysIterator.foreach { key =>
        check(
          key,
          s"""Take it out, or no query runs: spark.conf.unset("$key"), in SQL RESET $key.""")
      }
  }

  /** Rows of a command's result: `show()` and Connect make local relations of them. */
  private def isAnswer(leaf: LogicalPlan): Boolean =
    leaf.isInstanceOf[CommandResult] || leaf.isInstanceOf[LocalRelation]

  private def check(key: String, cure: => String): Unit =
    if (key.startsWith(Configs.prefix) && !Configs.keys.contains(key)) {
      throw new FiresteelAnalysisException(
        "FIRESTEEL_UNKNOWN_SETTING",
        Map("key" -> key, "suggestions" -> nearest(key).mkString(", "), "cure" -> cure))
    }

  /** The known keys that are most similar to `key`, the most similar first. */
  private[extension] def nearest(key: String): Seq[String] = {
    val distance = LevenshteinDistance.getDefaultInstance
    Configs.keys.toSeq.sortBy(known => (distance.apply(known, key).intValue, known)).take(3)
  }
}
