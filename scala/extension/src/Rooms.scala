package io.firesteel.extension

import io.firesteel.changelog.ChangelogRoom
import io.firesteel.core.room.{Phase, Room}
import io.firesteel.json.JsonRoom
import io.firesteel.lookup.LookupRoom
import io.firesteel.panes.PanesRoom
import io.firesteel.rank.RankRoom
import io.firesteel.shuffle.ShuffleRoom
import io.firesteel.sinks.SinksRoom
import io.firesteel.skew.SkewRoom

/** The rooms of this jar. A room that is not named here does not run. */
object Rooms {

  /** In their order within a phase. */
  val all: Seq[Room] =
    Seq(ShuffleRoom, RankRoom, SkewRoom, PanesRoom, ChangelogRoom, LookupRoom, SinksRoom, JsonRoom)

  val names: Seq[String] = all.map(_.name).sorted

  /**
   * The rooms in their order within a phase.
   *
   * Strategies match disjoint nodes, with one exception: the skew room must not sample an aggregate
   * over sliding windows, so the room panes comes first.
   */
  def in(phase: Phase[_]): Seq[Room] = phase match {
    // Lookup is first, so the others see its marks in their final form.
    case Phase.Hints | Phase.PreCBO => first(LookupRoom)
    // The rules run to a fixed point. With sources first, one pass resolves what uses them.
    case Phase.Resolution => first(ChangelogRoom, LookupRoom)
    case Phase.Planner => first(PanesRoom)
    case _ => all
  }

  private def first(rooms: Room*): Seq[Room] = rooms ++ all.filterNot(rooms.contains)
}
