package io.firesteel.testkit

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.scalatest.Assertions

/** The check that every rewrite must pass, logical or physical. */
object RuleCheck extends Assertions {

  /** Applies `rule` as Spark does, and checks that a second run changes nothing. */
  def applied[P <: QueryPlan[P]](rule: Rule[P], plan: P): P = {
    val once = rule(plan)
    val twice = rule(once)
    assert(twice.fastEquals(once), s"${rule.ruleName} is not safe to run twice:\n$once\n$twice")
    once
  }
}
