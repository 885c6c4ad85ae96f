package io.firesteel.bench

/**
 * A pause before each run beside another engine. Both JVMs work on for a while after a run: they
 * collect garbage, compile, and stop threads. On the same cores the other one would pay for it.
 */
object Settle {

  private val millis = 1000L

  def apply(): Unit = Thread.sleep(millis)
}
