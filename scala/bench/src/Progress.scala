package io.firesteel.bench

import java.io.PrintStream
import java.util.{Timer, TimerTask}

/** Says on stderr what is going on, and every five seconds that it still is. */
final class Progress(out: PrintStream) {

  private val started = System.nanoTime()

  def line(text: String): Unit = out.println(f"[${seconds(started)}%6.1f s] $text")

  /** Runs `body` as a named step, and says afterwards how long it took. */
  def step[A](name: String)(body: => A): A = stepWithOutcome(name)(body)(_ => "")

  /** The same, and says what came of it. */
  def stepWithOutcome[A](name: String)(body: => A)(outcome: A => String): A = {
    val from = System.nanoTime()
    val timer = new Timer("progress", true)
    val beat = new TimerTask {
      override def run(): Unit = line(f"$name: ${seconds(from)}%.0f s so far")
    }
    timer.schedule(beat, Progress.beatMillis, Progress.beatMillis)
    try {
      val result = body
      line(f"$name: ${seconds(from)}%.1f s  ${outcome(result)}")
      result
    } finally timer.cancel()
  }

  private def seconds(since: Long): Double = (System.nanoTime() - since) / 1e9
}

object Progress {
  private val beatMillis = 5000L
}
