package io.firesteel.core.rows

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.firesteel.taskMemory

/** Where an operator gets the permission to hold bytes. */
private[firesteel] trait MemoryBudget {

  /** Asks to hold `total` bytes in all; false when more than is held already is refused. */
  def hold(total: Long): Boolean

  /** Gives back what is held beyond `total` bytes. */
  def releaseTo(total: Long): Unit

  /** The most bytes ever held. */
  def peak: Long
}

/**
 * A budget out of Spark's execution memory, shared fairly with the other tasks.
 *
 * Asks in steps of a megabyte, so that most rows cost no call. It does not give memory back when
 * another consumer asks (`spill` answers 0): heaps cannot be emptied in the midst of an offer, and
 * once they are read they hold nothing of the budget any more.
 *
 * @param cap bytes that are refused in any case
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

  /** The budget of the running task, given back when the task ends, however it ends. */
  def ofThisTask(cap: Long): TaskMemoryBudget = {
    val task = TaskContext.get()
    val budget = new TaskMemoryBudget(taskMemory(task), cap)
    task.addTaskCompletionListener[Unit](_ => budget.releaseTo(0L))
    budget
  }
}
