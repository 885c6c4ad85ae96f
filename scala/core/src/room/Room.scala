package io.firesteel.core.room

import io.firesteel.core.decide.DeclineDoc
import io.firesteel.core.plans.MarkGrowingShuffles
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.firesteel.ConfigEntry

/**
 * All that the rest of firesteel knows of a room: settings, reference, versions, the extension and
 * the tests read it here.
 *
 * The texts of a room's errors are in its `resources`, see [[io.firesteel.core.errors.FiresteelErrors]].
 *
 * @param name the folder's, the package's and the settings' name
 * @param settings every setting, the switch first
 * @param declines every reason for which the room leaves a query to Spark
 * @param injections what the room puts into Spark; within a phase in the order of application
 */
abstract class Room(
    val name: String,
    val settings: Seq[ConfigEntry[_]],
    val declines: Seq[DeclineDoc],
    val injections: Seq[Injection]) {

  /** Installs this room and no other, for its tests. */
  final def install(extensions: SparkSessionExtensions): Unit =
    Room.install(extensions, _ => Seq(this))
}

object Room {

  /** Installs rooms: those of each phase, in their order there. */
  def install(extensions: SparkSessionExtensions, rooms: Phase[_] => Seq[Room]): Unit = {
    for {
      phase <- Phase.all
      room <- rooms(phase)
      injection <- room.injections
      if injection.phase eq phase
    } injection.into(extensions)
    // Last: the rooms' rules put exchanges in and take them out.
    extensions.injectQueryStagePrepRule(_ => MarkGrowingShuffles)
  }
}
