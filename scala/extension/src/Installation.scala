package io.firesteel.extension

import io.firesteel.core.room.Room
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSessionExtensions

/** Injects first what belongs to no room, then the rooms. */
private[firesteel] object Installation {

  def of(extensions: SparkSessionExtensions): Unit = {
    // Registers the settings, then checks those that the session started with.
    require(Configs.all.nonEmpty)
    Option(SparkEnv.get).foreach(env => SettingNames.checkAtStart(env.conf))
    // This check is first: a rule may have read the default of a misspelt setting.
    extensions.injectCheckRule(SettingNames.checkAtAnalysis)
    extensions.injectTableFunction(ExplainFunction.description)
    extensions.injectTableFunction(RepartitionFunction.description)
    extensions.injectTableFunction(VersionFunction.description)
    Room.install(extensions, Rooms.in)
  }
}
