package io.firesteel.changelog.state

import io.firesteel.testkit.TimedSuite

/** The watermark of one operator from micro-batch to micro-batch. */
class WatermarkStepsSuite extends TimedSuite {

  test("a micro-batch without a watermark does not take it back") {
    val watermark = new Watermark
    Seq(10L, 0L, 30L).zip(Seq((0L, 10L), (10L, 10L), (10L, 30L))).zipWithIndex.foreach {
      case ((told, (late, now)), version) =>
        watermark.advance(told)
        watermark.use(version.toLong)
        assert(watermark.lateMs == late && watermark.ms == now, told)
    }
  }
}
