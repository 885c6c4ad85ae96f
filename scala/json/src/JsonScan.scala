package io.firesteel.json

import io.firesteel.core.decide.{Fired, FiredExpression}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{ConditionalExpression, Expression, JsonToStructs, NonSQLExpression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Reads a document once; each field of the struct is the value of an expression over it.
 *
 * Spark's expressions are kept inside the outputs, over column 0, where no rule of Spark looks for
 * them.
 *
 * @param shared the struct is read by several expressions. Then rules must not copy the scan to
 *   them, which they do not if it is not deterministic.
 * @param counts what the scan does, once an operator shows it
 */
final case class JsonScan private[json] (
    child: Expression,
    outputs: Seq[JsonOutput],
    shared: Boolean,
    counts: JsonCounts = JsonCounts.none)
  extends UnaryExpression
  with ConditionalExpression
  with NonSQLExpression
  with FiredExpression {

  override def fired: Fired = Fired(
    "FuseJson",
    "documents are read once, straight into binary rows",
    Map("document" -> child.toString, "values" -> outputs.map(_.reading.text).mkString(", ")) ++
      counts.text(outputs.map(_.reading.text)).map("read by Spark" -> _)
  )

  override lazy val deterministic: Boolean = !shared && child.deterministic

  // Plans that differ in their counts alone do the same.
  override lazy val canonicalized: Expression =
    copy(child = child.canonicalized, counts = JsonCounts.none)

  /** Spark computes no part of a document of `from_json` before it. */
  override def alwaysEvaluatedInputs: Seq[Expression] =
    if (outputs.exists(_.original.exists(_.isInstanceOf[JsonToStructs]))) Nil else Seq(child)

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): JsonScan =
    inputs.headOption.fold(this)(document => copy(child = document))

  override def branchGroups: Seq[Seq[Expression]] = Nil

  /** Spark takes a row of nulls for no literal of a struct. */
  override def nullable: Boolean = child.nullable

  /** It has a row that it writes again for each document. */
  override def stateful: Boolean = true

  override lazy val dataType: DataType =
    StructType(outputs.map(output => StructField(output.name, output.dataType)))

  override def prettyName: String = "json_scan"

  override def flatArguments: Iterator[Any] = Iterator(child) ++ outputs.map(_.name)

  @transient private lazy val evaluator = new JsonEvaluator(outputs.toArray, counts)

  /** A copy: an interpreted comparison evaluates one expression for two rows. */
  override def eval(input: InternalRow): Any = child.eval(input) match {
    case null => null
    case document => evaluator.read(document.asInstanceOf[UTF8String]).copy()
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val scan = ctx.addReferenceObj("jsonScan", new JsonEvaluator(outputs.toArray, counts))
    val json = child.genCode(ctx)
    ev.copy(code = code"""
      ${json.code}
      boolean ${ev.isNull} = ${json.isNull};
      InternalRow ${ev.value} = ${ev.isNull} ? null : $scan.read(${json.value});""")
  }

  override protected def withNewChildInternal(newChild: Expression): JsonScan =
    copy(child = newChild)
}
