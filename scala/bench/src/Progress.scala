package io.firesteel.bench

import java.io.PrintStream
import java.util.{Timer, TimerTask}

/** Prints the current step on stderr, and again every five seconds. */
final class Progress(out: PrintStream) {

  private val started = System.nanoTime()

  def line(text: String): Unit = out.println(f"[${seconds(started)}%6.1f s] $text")

  /** Runs `body` as a named step, and prints its time afterwards. */
  def step[A](name: String)(body: => A): A = stepWithOutcome(name)(body)(_ => "")

  /** The same, and prints the result. */
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
