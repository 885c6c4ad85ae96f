package io.firesteel.core.decide

import io.firesteel.core.CoreConf
import io.firesteel.core.plans.PlanStubs.{FiredExec, Leaf, LeafExec, PlainExec, column, linked}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.SinglePartition
import org.apache.spark.sql.execution.{CommandResultExec, SparkPlan, UnionExec}
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeExec}
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

/** Decisions of strategies, and how they are read from plans; no session. */
class ExplainSuite extends AnyFunSuite {
  import ExplainSuite.{Mine, No, PlanMine, leaf, switch}

  private def explained(plan: SparkPlan): (Seq[String], Seq[String]) = {
    val its = Explain.of(plan)
    (its.fired.map(_.rule), its.declined.map(d => s"${d.rule} ${d.why.code}"))
  }

  test("operators that a rule planned, and their values") {
    val plan = FiredExec("Upper", PlainExec(FiredExec("Lower", leaf(), reports = false)))
    assert(Explain.of(plan).fired == Seq(Fired("Upper", "it fired", Map("n" -> "1"))))
    assert(Explain.of(plan).plan == plan.treeString)
  }

  test("the last reason of each rule counts for a node, and a rule that fires removes its reason") {
    val node = Leaf("b")
    Decisions.decline(node, "R", No("FIRST"))
    Decisions.decline(node, "R", No("LAST"))
    Decisions.decline(node, "S", No("OTHER"))
    assert(explained(leaf(node)) == ((Nil, Seq("R LAST", "S OTHER"))))
    Decisions.fire(node, "R")
    assert(explained(leaf(node)) == ((Nil, Seq("S OTHER"))))
    Decisions.fire(Leaf("c"), "R")
  }

  test("a reason is reported once, whatever operators one logical node has become") {
    val node = Leaf("d")
    Decisions.decline(node, "R", No("WHY"))
    assert(explained(linked(PlainExec(leaf(node)), node)) == ((Nil, Seq("R WHY"))))
  }

  test("a rewrite that made several nodes is reported once; another with the same words, too") {
    val (one, two, three) = (Leaf("e"), Leaf("f"), Leaf("g"))
    Decisions.fire(Seq(one, two), Fired("R", "made", Map.empty))
    Decisions.fire(Seq(three), Fired("R", "made", Map.empty))
    assert(explained(UnionExec(Seq(leaf(one), leaf(two)))) == ((Seq("R"), Nil)))
    assert(explained(UnionExec(Seq(leaf(one), leaf(three)))) == ((Seq("R", "R"), Nil)))
  }

  test("decisions are found in reused exchanges and in commands that have run") {
    val exchange = ShuffleExchangeExec(SinglePartition, FiredExec("R", leaf()))
    assert(explained(ReusedExchangeExec(Seq(column), exchange)) == ((Seq("R"), Nil)))
    val command = CommandResultExec(Seq(column), FiredExec("C", leaf()), Nil)
    assert(explained(command) == ((Seq("C"), Nil)))
  }

  /** The number of planned operators, and the reasons at the node. */
  private def planned(node: LogicalPlan, settings: (String, Boolean)*): (Int, Seq[Decline]) = {
    val conf = new SQLConf
    settings.foreach { case (key, value) => conf.setConfString(key, value.toString) }
    val plans = SQLConf.withExistingConf(conf)(PlanMine(node))
    (plans.size, Decisions.declinesAt(linked(LeafExec("x"), node)).map(_.why))
  }

  test("a strategy plans a plan, leaves a reason, or does not recognise it") {
    assert(PlanMine.ruleName == "PlanMine")
    assert(planned(Mine(fires = true)) == ((1, Nil)))
    assert(planned(Mine(fires = false)) == ((0, Seq(No("TEST.NO")))))
    assert(planned(Leaf("h")) == ((0, Nil)))
  }

  test("a switch that is off is the reason, whatever the strategy would decide") {
    Seq(CoreConf.ENABLED.key, switch.key).foreach { key =>
      val (plans, why) = planned(Mine(fires = true), key -> false)
      assert(plans == 0 && why == Seq(Decline.SwitchedOff("test", key)))
      assert(why.head.code == "TEST.SWITCHED_OFF" && why.head.setting.contains(key))
    }
  }

  test("a plan that fires removes the reason of an earlier try") {
    val node = Mine(fires = true)
    planned(node, switch.key -> false)
    assert(planned(node) == ((1, Nil)))
  }
}

private object ExplainSuite {

  def leaf(of: Leaf = Leaf("a")): SparkPlan = linked(LeafExec(of.name), of)

  final case class No(code: String) extends Decline {
    override def message: String = "no"
  }

  val switch: ConfigEntry[Boolean] =
    SQLConf.buildConf("spark.firesteel.test.enabled").booleanConf.createWithDefault(true)

  final case class Mine(fires: Boolean) extends LeafNode {
    override def output: Seq[Attribute] = Seq(column)
  }

  object PlanMine extends OptionalStrategy[Mine]("test", switch) {
    override protected def recognise(plan: LogicalPlan): Option[Mine] =
      Option(plan).collect { case mine: Mine => mine }
    override protected def subject(query: Mine): LogicalPlan = query
    override protected def decide(query: Mine): Either[Decline, SparkPlan] =
      if (query.fires) Right(FiredExec(ruleName, leaf())) else Left(No("TEST.NO"))
  }
}
