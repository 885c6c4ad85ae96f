package io.firesteel.panes

import io.firesteel.core.windows.PaneGrid
import io.firesteel.testkit.TimedSuite

import scala.util.Random

/** Compares the arithmetic of panes with the definition of windows. */
class PaneGridSuite extends TimedSuite {

  private def randomGrid(random: Random): PaneGrid = {
    val slide = 1L + random.nextInt(20)
    PaneGrid(slide + 1 + random.nextInt(100), slide, random.nextInt(slide.toInt).toLong)
  }

  test("the windows of a time are those of its pane") {
    val random = new Random(7)
    (1 to 300).foreach { _ =>
      val grid = randomGrid(random)
      (1 to 50).foreach { _ =>
        val time = random.nextInt(4000) - 2000L
        val pane = grid.paneOf(time)
        val all = (-2500L to 2500L).filter { window =>
          val start = grid.startOf(window)
          start <= time && time < start + grid.size
        }
        val ofPane = all.filter(w => grid.firstPaneOf(w) <= pane && pane < grid.endPaneOf(w))
        assert(ofPane == all, s"$grid at $time")
        assert(grid.firstWindowOf(pane) == all.head, s"$grid at $time")
        val beside = Seq(all.head - 1, all.last + 1)
        assert(!beside.exists(w => grid.firstPaneOf(w) <= pane && pane < grid.endPaneOf(w)))
      }
    }
  }

  test("panes follow the order of time, and a window has panesPerWindow of them") {
    val random = new Random(8)
    (1 to 300).foreach { _ =>
      val grid = randomGrid(random)
      val panes = (-500L to 500L).map(grid.paneOf)
      assert(panes == panes.sorted, grid)
      val start = grid.startOf(3)
      val inWindow = (start until start + grid.size).map(grid.paneOf).distinct
      assert(inWindow.length == grid.panesPerWindow, grid)
      assert(inWindow.head == grid.firstPaneOf(3) && inWindow.last == grid.endPaneOf(3) - 1, grid)
    }
  }

  test("a slide is one pane when it divides the size, and two panes otherwise") {
    assert(PaneGrid(24, 1, 0).panesPerWindow == 24)
    assert(PaneGrid(100, 99, 0).panesPerWindow == 3)
    assert(PaneGrid(5, 2, 1).panesPerWindow == 5)
  }

  test("a grid names its durations in the largest unit that fits") {
    assert(PaneGrid(86400000000L, 3600000000L, 900000000L).toString ==
      "1 day by 1 hour from 15 minutes")
    assert(PaneGrid(1500000L, 1L, 0L).toString == "1500 milliseconds by 1 microsecond")
  }
}
