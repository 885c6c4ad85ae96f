package io.firesteel.core.room

import io.firesteel.core.decide.DeclineDoc
import io.firesteel.core.plans.MarkGrowingShuffles
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.firesteel.ConfigEntry

/**
 * The declaration of a room. Settings, the reference page, versions, the extension and the tests
 * read it.
 *
 * The texts of a room's errors are in its `resources`, see
 * [[io.firesteel.core.errors.FiresteelErrors]].
 *
 * @param name name of the folder and of the package, and part of the settings' names
 * @param settings every setting, the switch first
 * @param declines every reason for which the room declines a query
 * @param injections the room's additions to Spark, in the order of application within a phase
 */
abstract class Room(
    val name: String,
    val settings: Seq[ConfigEntry[_]],
    val declines: Seq[DeclineDoc],
    val injections: Seq[Injection]) {

  /** Installs this room only, for its tests. */
  final def install(extensions: SparkSessionExtensions): Unit =
    Room.install(extensions, _ => Seq(this))
}

object Room {

  /** Installs the rooms of each phase, in that phase's order. */
  def install(extensions: SparkSessionExtensions, rooms: Phase[_] => Seq[Room]): Unit = {
    for {
      phase <- Phase.all
      room <- rooms(phase)
      injection <- room.injections
      if injection.phase eq phase
    } injection.into(extensions)
    // Last: the rooms' rules add and remove exchanges.
    extensions.injectQueryStagePrepRule(_ => MarkGrowingShuffles)
  }
}
