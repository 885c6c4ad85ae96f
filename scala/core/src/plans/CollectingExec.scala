package io.firesteel.core.plans

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator}
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/**
 * An operator that gives its rows to a [[Collector]], in generated code. What the collector has
 * ready goes on when it is full, and at the end of the input.
 */
private[firesteel] trait CollectingExec extends UnaryExecNode with CodegenSupport {

  /** An object whose method `apply()` makes a task's collector. */
  protected def newStart(): AnyRef

  protected def collectorClass: Class[_ <: Collector]

  /** The collector's variable. */
  @transient protected var collector: String = _

  /** A method that emits rows that are ready: all for `true`, while there is room for `false`. */
  @transient protected var send: String = _

  /** Declares variables for parts of the collector. */
  protected def declareParts(ctx: CodegenContext): Unit = {
    val _ = ctx
  }

  /** A variable of the task that keeps its value between calls. */
  final protected def variable(ctx: CodegenContext, of: Class[_], value: String): String =
    ctx.addMutableState(
      of.getName,
      of.getSimpleName.head.toLower +: of.getSimpleName.tail,
      v => s"$v = $value;",
      forceInline = true)

  override def inputRDDs(): Seq[RDD[InternalRow]] = input.inputRDDs()

  private def input: CodegenSupport = child.asInstanceOf[CodegenSupport]

  override protected def doProduce(ctx: CodegenContext): String = {
    val start = ctx.addReferenceObj("start", newStart())
    collector = variable(ctx, collectorClass, s"$start.apply()")
    declareParts(ctx)
    val isDone = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "collected")
    send = newSend(ctx)
    s"""
       |$send(false);
       |if (shouldStop()) return;
       |if (!$isDone) {
       |  ${input.produce(ctx, this)}
       |  // A method of the input may have returned early because a row is ready.
       |  if (shouldStop()) return;
       |  $isDone = true;
       |  $collector.finish();
       |  $send(false);
       |}
     """.stripMargin
  }

  private def newSend(ctx: CodegenContext): String = {
    val (name, all, row) = (ctx.freshName("send"), ctx.freshName("all"), ctx.freshName("sent"))
    ctx.addNewFunction(
      name,
      s"""
         |private void $name(boolean $all) throws java.io.IOException {
         |  while (($all || !shouldStop()) && $collector.hasNext()) {
         |    UnsafeRow $row = (UnsafeRow) $collector.next();
         |    ${consume(ctx, null, row)}
         |  }
         |}
       """.stripMargin
    )
  }
}
