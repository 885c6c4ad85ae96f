package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, Literal, Multiply, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Max, Sum}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.types.{BooleanType, ByteType, DateType, DoubleType, IntegerType, LongType, StringType, TimestampNTZType, TimestampType}
import org.scalatest.funsuite.AnyFunSuite

/** Columns that are keys and arguments at once; and the code that reads columns as words. */
class RawColumnsSuite extends AnyFunSuite {

  private val (d, v) = (AttributeReference("d", DoubleType)(), AttributeReference("v", LongType)())
  private val rows = LocalRelation(d, v)

  /** A key that is computed from a column and keeps its id. */
  private val computed: NamedExpression = Alias(Multiply(d, Literal(1.0)), "d")(d.exprId)

  private def max(column: AttributeReference) =
    AggregateExpression(Max(column), Complete, isDistinct = false, filter = None)

  test("a function reads the column of a computed key under another name") {
    val raw = RawColumns.of(Seq(computed), Seq(max(d), max(v)))
    val below = raw.below(rows)
    val copy = below.output.last
    assert(below.output.init == Seq(d, v) && copy.exprId != d.exprId && copy.name == "d")
    assert(below match {
      case project: Project => project.projectList.last.asInstanceOf[Alias].child == d
      case _ => false
    })
    assert(raw.over(max(d)).aggregateFunction == Max(copy))
    assert(raw.over(max(v)).aggregateFunction == Max(v), "other columns stay")
    val sum = AggregateExpression(Sum(v), Complete, isDistinct = true, Some(d))
    assert(raw.over(sum).filter.contains(copy), "filters read columns, too")
  }

  test("if no function reads such a column, nothing changes") {
    Seq(RawColumns.of(Seq(computed), Seq(max(v))), RawColumns.of(Seq(d), Seq(max(d)))).foreach {
      raw =>
        assert(raw.below(rows) eq rows)
        assert(raw.over(max(d)).aggregateFunction == Max(d))
    }
  }

  test("values that are read as words") {
    val words = Seq(LongType, TimestampType, TimestampNTZType, IntegerType, DateType)
    assert(words.forall(RowCode.isWord))
    assert(!Seq(BooleanType, ByteType, DoubleType, StringType).exists(RowCode.isWord))
    val code = ExprCode(FalseLiteral, JavaCode.variable("x", IntegerType))
    assert(RowCode.word(LongType, code) == "x" && RowCode.word(TimestampType, code) == "x")
    assert(RowCode.word(DateType, code) == s"${classOf[KeyIndex].getName}.word(x)")
  }

  test("a binary row is built from the columns' variables, in the requested order") {
    val ctx = new CodegenContext
    val variables =
      Seq(
        ExprCode(FalseLiteral, JavaCode.variable("a", DoubleType)),
        ExprCode(FalseLiteral, JavaCode.variable("b", LongType)))
    val built = RowCode.binary(ctx, Seq(v), Seq(d, v), variables)
    assert(ctx.currentVars == variables && ctx.INPUT_ROW == null)
    assert(built.code.toString.contains("b") && !built.code.toString.contains(", a)"))
  }
}
