package io.firesteel.testkit

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Spark without code generation: it compiles nothing, as after a failed compilation. */
object Interpreted {

  val settings: Seq[(String, Any)] = Seq(
    SQLConf.CODEGEN_FACTORY_MODE.key -> "NO_CODEGEN",
    SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> false)

  /** Runs `body` so. Compilation is most of the time of a query over few rows. */
  def apply[T](spark: SparkSession)(body: => T): T = WithConf(spark, settings)(body)
}
