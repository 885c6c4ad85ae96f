package io.firesteel.extension

import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.commons.text.similarity.LevenshteinDistance
import org.apache.spark.SparkConf
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{Command, CommandResult, LogicalPlan}
import org.apache.spark.sql.execution.command.SetCommand

/**
 * Refuses a `spark.firesteel.*` key that does not exist, so that a misspelt setting is never
 * silently without effect.
 *
 * There are three doors: the session's start, SQL `SET`, and `spark.conf.set`, which passes no
 * extension; what came through the last is found at the next query. Commands pass, so that `RESET`
 * can mend it.
 */
object SettingNames {

  /** Checks what a session starts with. */
  def checkAtStart(conf: SparkConf): Unit = conf.getAll.foreach { case (key, _) => check(key) }

  /** Checks an analysed plan, and the session's settings if it is a query. */
  def checkAtAnalysis(session: SparkSession)(plan: LogicalPlan): Unit = plan match {
    case SetCommand(Some((key, _))) => check(key)
    case _: Command => ()
    // Showing what a command answered, such as SET -v, is not a query yet.
    case shown if shown.collectLeaves().forall(_.isInstanceOf[CommandResult]) => ()
    case _ => session.conf.getAll.keysIterator.foreach(check)
  }

  private def check(key: String): Unit =
    if (key.startsWith(Configs.prefix) && !Configs.keys.contains(key)) {
      throw new FiresteelAnalysisException(
        "FIRESTEEL_UNKNOWN_SETTING",
        Map("key" -> key, "suggestions" -> nearest(key).mkString(", ")))
    }

  /** The known keys that look most like `key`, the most alike first. */
  private[extension] def nearest(key: String): Seq[String] = {
    val distance = LevenshteinDistance.getDefaultInstance
    Configs.keys.toSeq.sortBy(known => (distance.apply(known, key).intValue, known)).take(3)
  }
}
