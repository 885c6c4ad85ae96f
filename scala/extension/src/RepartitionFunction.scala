package io.firesteel.extension

import io.firesteel.changelog.checkpoint.RepartitionState
import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * `SELECT * FROM firesteel_repartition_state('/checkpoint', 8)`: splits the state of a stopped
 * query into another number of partitions, and returns a row with the result.
 *
 * As SQL it works from every client: JDBC, Spark Connect. Spark runs a command as soon as it is
 * planned. On Connect it runs again when the client fetches the rows: the state has the wanted
 * number then, and the answer is the same.
 */
object RepartitionFunction {

  private val name = "firesteel_repartition_state"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    TableFunctions.requireArguments(name, Seq("checkpoint", "partitions"), arguments)
    arguments.map(argument => if (argument.foldable) argument.eval() else null) match {
      case Seq(checkpoint: UTF8String, partitions: Int) =>
        RepartitionCommand(checkpoint.toString, partitions)
      case _ =>
        throw new FiresteelAnalysisException(
          "FIRESTEEL_REPARTITION_WRONG_ARGUMENTS",
          Map("call" -> arguments.map(_.sql).mkString(s"$name(", ", ", ")")))
    }
  }
}

final private[extension] case class RepartitionCommand(
    checkpoint: String,
    partitions: Int,
    override val output: Seq[Attribute])
  extends LeafRunnableCommand {

  override def run(session: SparkSession): Seq[Row] = {
    val done = RepartitionState(session, checkpoint, partitions)
    Seq(Row(done.batch, done.before, done.partitions))
  }
}

private[extension] object RepartitionCommand {

  private val schema =
    StructType.fromDDL("batch BIGINT, partitions_before INT, partitions INT")

  def apply(checkpoint: String, partitions: Int): RepartitionCommand =
    RepartitionCommand(checkpoint, partitions, DataTypeUtils.toAttributes(schema))
}
