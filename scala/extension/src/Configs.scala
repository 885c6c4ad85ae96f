package io.firesteel.extension

import io.firesteel.changelog.ChangelogConf
import io.firesteel.core.CoreConf
import io.firesteel.lookup.LookupConf
import io.firesteel.panes.PanesConf
import io.firesteel.rank.RankConf
import io.firesteel.shuffle.ShuffleConf
import io.firesteel.skew.SkewConf
import org.apache.spark.sql.firesteel.ConfigEntry

/** Every setting of every room. */
object Configs {

  /** Reading this registers them, so that `SET -v` lists them before the first query. */
  val all: Seq[ConfigEntry[_]] =
    (CoreConf.all ++ ChangelogConf.all ++ LookupConf.all ++ PanesConf.all ++ RankConf.all ++
      ShuffleConf.all ++ SkewConf.all).sortBy(_.key)

  val prefix: String = "spark.firesteel."

  val keys: Set[String] = all.map(_.key).toSet
}
