package io.firesteel.bench

/** How the memory case ended. */
sealed trait Memory

object Memory {

  /** Not run, because only some cases were asked for. */
  case object NotRun extends Memory

  /** The JVM ended before it had an answer. */
  case object DidNotComplete extends Memory

  final case class Completed(outcomes: Seq[MemoryOutcome]) extends Memory
}

/** Everything that one call of the runner found out about a room. */
final case class Results(
    room: Room,
    environment: Environment,
    cases: Seq[CaseResult],
    memory: Memory,
    noise: Boolean) {

  /** Name of the files: the room's, or another beside it for a look at the noise. */
  def fileName: String = if (noise) s"${room.name}-noise" else room.name
}
