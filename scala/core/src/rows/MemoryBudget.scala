package io.firesteel.core.rows

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.firesteel.taskMemory

/** The source of an operator's permission to hold memory. */
private[firesteel] trait MemoryBudget {

  /** Requests `total` bytes in all; returns false if more than the current amount is refused. */
  def hold(total: Long): Boolean

  /** Releases everything beyond `total` bytes. */
  def releaseTo(total: Long): Unit

  /** The peak, in bytes. */
  def peak: Long
}

/**
 * A budget from Spark's execution memory, shared fairly with the other tasks.
 *
 * It reserves memory in steps of a megabyte, so most rows need no call. It does not release memory
 * when another consumer needs some (`spill` returns 0): heaps cannot be emptied during an offer,
 * and after they were read they hold no memory of the budget.
 *
 * @param cap bytes above which every request is refused
 */
private[firesteel] final class TaskMemoryBudget(memory: TaskMemoryManager, cap: Long)
  extends MemoryConsumer(memory, MemoryMode.ON_HEAP)
  with MemoryBudget {

  private[this] var granted: Long = 0L
  private[this] var most: Long = 0L

  override def hold(total: Long): Boolean =
    if (total > cap) false
    else if (total <= granted) true
    else {
      val wanted = roundUp(total) - granted
      val got = acquireMemory(wanted)
      if (got < wanted) {
        freeMemory(got)
        false
      } else {
        granted += got
        most = math.max(most, granted)
        true
      }
    }

  override def releaseTo(total: Long): Unit = {
    val spare = granted - roundUp(total)
    if (spare > 0) {
      freeMemory(spare)
      granted -= spare
    }
  }

  override def peak: Long = most

  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

  private def roundUp(bytes: Long): Long =
    (bytes + TaskMemoryBudget.step - 1) / TaskMemoryBudget.step * TaskMemoryBudget.step
}

private[firesteel] object TaskMemoryBudget {
  val step: Long = 1L << 20

  /** The budget of the running task, released when the task ends, even after a failure. */
  def ofThisTask(cap: Long): TaskMemoryBudget = {
    val task = TaskContext.get()
    val budget = new TaskMemoryBudget(taskMemory(task), cap)
    task.addTaskCompletionListener[Unit](_ => budget.releaseTo(0L))
    budget
  }
}
