package io.firesteel.testkit

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Spark without code generation: it compiles nothing, as after a failed compilation. */
object Interpreted {

  /**
   * None beside Comet, which wants memory outside the heap: there Spark's own interpreted aggregates
   * keep texts whose memory is gone (stock Spark 4.1.4 crashes in `max` of a text).
   */
  val settings: Seq[(String, Any)] =
    if (BesideComet.isOn) Nil
    else Seq(
      SQLConf.CODEGEN_FACTORY_MODE.key -> "NO_CODEGEN",
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> false)

  /** Runs `body` so. Compilation is most of the time of a query over few rows. */
  def apply[T](spark: SparkSession)(body: => T): T = WithConf(spark, settings)(body)
}
