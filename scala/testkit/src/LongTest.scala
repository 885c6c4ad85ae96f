package io.firesteel.testkit

import org.scalatest.Tag

/** A test that only `make test-long` runs: it kills processes, or repeats a shorter one at length. */
object LongTest extends Tag("io.firesteel.testkit.LongTest")
