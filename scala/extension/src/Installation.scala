package io.firesteel.extension

import io.firesteel.core.room.Room
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSessionExtensions

/** Everything that is injected: what belongs to no room, and then the rooms. */
private[firesteel] object Installation {

  def of(extensions: SparkSessionExtensions): Unit = {
    // Registers the settings, then checks what the session was started with.
    require(Configs.all.nonEmpty)
    Option(SparkEnv.get).foreach(env => SettingNames.checkAtStart(env.conf))
    // The first check: a rule may have read the default of a setting that is misspelt.
    extensions.injectCheckRule(SettingNames.checkAtAnalysis)
    extensions.injectTableFunction(ExplainFunction.description)
    extensions.injectTableFunction(RepartitionFunction.description)
    extensions.injectTableFunction(VersionFunction.description)
    Room.install(extensions, Rooms.in)
  }
}
