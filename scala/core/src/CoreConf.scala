package io.firesteel.core

import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings that belong to no room. */
object CoreConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.enabled")
      .doc("Whether any rule of firesteel may change a plan. Off: every plan is Spark's own.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED)
}
