package io.firesteel.bench

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

/** The arithmetic of a page, without Spark. */
class MeasuringSuite extends AnyFunSuite {

  private def rounds(stock: Seq[Double], firesteel: Seq[Double]): Rounds = {
    def runs(seconds: Seq[Double]): Seq[Run] = seconds.map(Run(_, Nil))
    Rounds(Map(Contestant.stock -> runs(stock), Contestant.firesteel -> runs(firesteel)))
  }

  test("the median of an even number of values is between the middle two") {
    assert(Sample(Seq(4.0, 1.0, 3.0, 2.0)).median == 2.5)
    assert(Sample(Seq(9.0, 1.0, 2.0)).median == 2.0)
  }

  test("a ratio is taken pair by pair, so a slow moment of the machine does not count") {
    val speedUp =
      Measure.SpeedUp.of(rounds(stock = Seq(2.0, 20.0, 2.0), firesteel = Seq(1.0, 10.0, 1.0)))
    assert((speedUp.min, speedUp.median, speedUp.max) == ((2.0, 2.0, 2.0)))
  }

  test("a target says by how much it is missed") {
    val measured = Sample(Seq(4.0))
    assert(Target.timesFaster(5).verdict(measured) == "missed by 20.0 %")
    assert(Target.timesFaster(4).verdict(measured) == "met")
    assert(Target.atMostTimes(2, Contestant.scan).verdict(measured) == "missed by 100.0 %")
  }

  test("everyone comes first and last in turn") {
    assert(Rounds.order(Seq("a", "b", "c"), 0) == Seq("a", "b", "c"))
    assert(Rounds.order(Seq("a", "b", "c"), 1) == Seq("c", "b", "a"))
  }

  test("a straggler shows, unless its stage takes hardly any of the time") {
    val even = Seq.fill(4)(TaskTime(0, 1.0, 0))
    val skewed = Seq(TaskTime(1, 3.0, 10), TaskTime(1, 1.0, 2))
    val short = Seq(TaskTime(2, 0.03, 0), TaskTime(2, 0.01, 0))
    assert(Run(5, even ++ skewed).slowestTask == 1.5)
    assert(Run(5, even ++ short).slowestTask == 1.0)
    assert(Run(5, even ++ skewed).shuffledRowsPerTask == ((10L, 6.0)))
  }

  test("an unknown option is refused with the known ones named") {
    val refused = Arguments.parse(Seq("--room", "rank", "--pair", "7"))
    assert(refused.left.exists(_.contains("unknown option --pair; there are --case, --data")))
    assert(Arguments.parse(Seq("--room", "rank", "--pairs", "0")).isLeft)
    assert(Arguments.parse(Seq(
      "--room",
      "rank",
      "--pairs")).left.exists(_.contains("needs a value")))
  }

  test("the command on the page names what a reader would type, and no folders") {
    val read = Arguments.parse(
      Seq("--room", "rank", "--pairs", "7", "--data", "/somewhere", "--out", "elsewhere"))
    assert(read.map(_.command) == Right("build/bench rank --pairs 7"))
  }

  test("the small JVM's outcome arrives, and its absence means that it did not complete") {
    val folder = Files.createTempDirectory("bench")
    val outcome = MemoryOutcome("n = 1", 1.5, 2.5, 10L, 0L, Seq("PlanTopN"))
    MemoryFile.save(folder.resolve("below/outcome.json"), Seq(outcome))
    val there = MemoryFile.load(folder.resolve("below/outcome.json"))
    assert(there == Memory.Completed(List(outcome)))
    assert(MemoryFile.load(folder.resolve("absent.json")) == Memory.DidNotComplete)
  }
}
