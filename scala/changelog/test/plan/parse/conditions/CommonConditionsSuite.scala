package io.firesteel.changelog.plan.parse.conditions

import org.apache.spark.sql.catalyst.dsl.expressions._
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, JoinHint, LocalRelation}
import org.apache.spark.sql.types.IntegerType
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

class CommonConditionsSuite extends AnyFunSuite {

  private def column(name: String) = AttributeReference(name, IntegerType)()
  private val (k, v, rk, rv) = (column("k"), column("v"), column("rk"), column("rv"))
  private val join =
    Join(LocalRelation(k, v), LocalRelation(rk, rv), Inner, None, JoinHint.NONE)

  private def becomes(from: Expression, to: Expression): Assertion = {
    val queries = Seq(Filter(from, join), join.copy(condition = Some(from)))
    val found = queries.map(query => CommonConditions(query).expressions)
    assert(found.forall(its => its.size == 1 && its.head.semanticEquals(to)), found)
  }

  private val equal = k === rk

  test("an equality or two nulls is one comparison") {
    def found(of: Expression) =
      CommonConditions.nullSafe(join.copy(condition = Some(of))).expressions
    val nulls = k.isNull && rk.isNull
    Seq(equal || nulls, (rk.isNull && k.isNull) || equal).foreach { condition =>
      assert(found(condition && v < rv).head.semanticEquals((k <=> rk) && v < rv))
    }
    assert(
      found(equal || (k.isNull && rv.isNull)).head.semanticEquals(equal || (k.isNull && rv.isNull)))
  }

  test("what all parts of an OR have in common is written once") {
    becomes((equal && v < rv) || (equal && v > rv), equal && (v < rv || v > rv))
    becomes(
      (v < rv && equal) || ((v > rv && rk === k) || (rk === k && v === 1)),
      equal && (v < rv || v > rv || v === 1))
    becomes(
      v > 0 && ((equal && v < rv) || (equal && v > rv)),
      v > 0 && (equal && (v < rv || v > rv)))
  }

  test("a part with nothing else makes the others needless") {
    becomes((equal && v < rv) || equal, equal)
    becomes((equal && v < rv) || (v < rv && equal), equal && v < rv)
  }

  test("parts that have nothing in common stay") {
    Seq(
      (equal && v < rv) || (v === rk && v > rv),
      equal && v < rv,
      (equal && v < rv) || v > rv
    ).foreach(same => becomes(same, same))
  }

  test("conditions that vary, and filters of other rows, stay") {
    val varies = (equal && Rand(Literal(1)) < 0.5) || (equal && v < rv)
    val filter = Filter(varies, join)
    assert(CommonConditions(filter) == filter)
    val plain = Filter((v < 1 && k < 2) || (v < 1 && k > 3), LocalRelation(k, v))
    assert(CommonConditions(plain) == plain)
  }
}
