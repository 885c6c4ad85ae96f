package io.firesteel.json

import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object JsonConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.json.enabled")
      .doc(
        "Whether `from_json`, `get_json_object` and `json_tuple` read the bytes of a document " +
          "once, straight into binary rows, and scans of JSON files their lines. A document that cannot be read exactly as Spark " +
          "reads it goes to Spark's own parser.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED)
}
