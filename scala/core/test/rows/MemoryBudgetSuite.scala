package io.firesteel.core.rows

import org.apache.spark.sql.firesteel.SmallTasks
import org.scalatest.funsuite.AnyFunSuite

/** A budget from a task's memory. */
class MemoryBudgetSuite extends AnyFunSuite {

  private val mega = TaskMemoryBudget.step

  test("memory is reserved in steps, and memory that is held costs no call") {
    val (memory, _) = SmallTasks.memory(10 * mega)
    val budget = new TaskMemoryBudget(memory, Long.MaxValue)
    assert(budget.hold(0) && memory.getMemoryConsumptionForThisTask == 0)
    assert(budget.hold(1) && memory.getMemoryConsumptionForThisTask == mega)
    assert(budget.hold(mega) && memory.getMemoryConsumptionForThisTask == mega)
    assert(budget.hold(mega + 1) && memory.getMemoryConsumptionForThisTask == 2 * mega)
    assert(budget.hold(5) && budget.peak == 2 * mega)
  }

  test("refused memory is not held, and memory held before stays") {
    val (memory, _) = SmallTasks.memory(10 * mega)
    val budget = new TaskMemoryBudget(memory, Long.MaxValue)
    assert(budget.hold(9 * mega) && !budget.hold(10 * mega + 1))
    assert(memory.getMemoryConsumptionForThisTask == 9 * mega && budget.peak == 9 * mega)
    assert(budget.hold(10 * mega) && budget.peak == 10 * mega)
  }

  test("more than the cap is refused in any case") {
    val (memory, _) = SmallTasks.memory(10 * mega)
    val budget = new TaskMemoryBudget(memory, cap = 100)
    assert(budget.hold(100) && !budget.hold(101) && budget.hold(100))
  }

  test("released memory is available to others") {
    val (memory, _) = SmallTasks.memory(10 * mega)
    val (one, other) =
      (new TaskMemoryBudget(memory, Long.MaxValue), new TaskMemoryBudget(memory, Long.MaxValue))
    assert(one.hold(8 * mega) && !other.hold(4 * mega))
    one.releaseTo(6 * mega - 1)
    assert(memory.getMemoryConsumptionForThisTask == 6 * mega && other.hold(4 * mega))
    one.releaseTo(7 * mega)
    assert(memory.getMemoryConsumptionForThisTask == 10 * mega, "nothing is beyond that")
    assert(one.peak == 8 * mega)
  }

  test("it releases nothing when another consumer asks") {
    val (memory, _) = SmallTasks.memory(4 * mega)
    val (one, other) =
      (new TaskMemoryBudget(memory, Long.MaxValue), new TaskMemoryBudget(memory, Long.MaxValue))
    assert(one.hold(4 * mega) && !other.hold(1) && other.peak == 0)
  }

  test("tasks share fairly") {
    val (mine, others) = SmallTasks.memory(8 * mega)
    val budget = new TaskMemoryBudget(mine, Long.MaxValue)
    assert(budget.hold(2 * mega))
    assert(new TaskMemoryBudget(others, Long.MaxValue).hold(mega))
    assert(budget.hold(4 * mega) && !budget.hold(5 * mega))
  }

  test("a task's budget is released when it ends, even by an error") {
    val (memory, _) = SmallTasks.memory(8 * mega)
    SmallTasks.running(memory) {
      assert(TaskMemoryBudget.ofThisTask(Long.MaxValue).hold(3 * mega))
      assert(memory.getMemoryConsumptionForThisTask == 3 * mega)
    }
    assert(memory.getMemoryConsumptionForThisTask == 0)
    intercept[IllegalStateException](SmallTasks.running(memory) {
      assert(TaskMemoryBudget.ofThisTask(Long.MaxValue).hold(3 * mega))
      throw new IllegalStateException
    })
    assert(memory.getMemoryConsumptionForThisTask == 0)
  }
}
