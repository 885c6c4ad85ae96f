package io.firesteel.extension

import io.firesteel.core.CoreConf
import org.apache.spark.sql.firesteel.ConfigEntry

/** Every setting of every room. */
object Configs {

  /** Reading this value registers the settings, so `SET -v` lists them before the first query. */
  val all: Seq[ConfigEntry[_]] =
    (CoreConf.all ++ Rooms.all.flatMap(_.settings)).sortBy(_.key)

  val prefix: String = "spark.firesteel."

  val keys: Set[String] = all.map(_.key).toSet
}
