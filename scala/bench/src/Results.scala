package io.firesteel.bench

/** How the memory case ended. */
sealed trait Memory

object Memory {

  /** Not run, because the command line names only some cases. */
  case object NotRun extends Memory

  /** The JVM ended before it had an answer. */
  case object DidNotComplete extends Memory

  final case class Completed(outcomes: Seq[MemoryOutcome]) extends Memory
}

/** The results of one call of the runner for a room. */
final case class Results(
    room: Room,
    environment: Environment,
    cases: Seq[CaseResult],
    memory: Memory,
    noise: Boolean) {

  /** The name of the files: the room's, or another one for a run that measures the noise. */
  def fileName: String = if (noise) s"${room.name}-noise" else room.name
}
