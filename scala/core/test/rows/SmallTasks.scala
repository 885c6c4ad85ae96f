package org.apache.spark.sql.firesteel

import java.util.Properties

import org.apache.spark.{SparkConf, TaskContext, TaskContextImpl}
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.memory.{TaskMemoryManager, UnifiedMemoryManager}

/**
 * Tasks with a given amount of execution memory, without a session; Spark's classes for it are
 * private.
 */
object SmallTasks {

  /** The memory managers of two tasks that share so many bytes. */
  def memory(bytes: Long): (TaskMemoryManager, TaskMemoryManager) = {
    val all = new UnifiedMemoryManager(new SparkConf(false), bytes, 0L, 1)
    (new TaskMemoryManager(all, 0L), new TaskMemoryManager(all, 1L))
  }

  /** Runs `body` as a task, then the task's completion listeners. */
  def running[T](memory: TaskMemoryManager)(body: => T): T = {
    val (properties, metrics) = (new Properties, TaskMetrics.empty)
    val task =
      new TaskContextImpl(0, 0, 0, 0L, 0, 1, memory, properties, null, metrics, TaskCpus.one)
    TaskContext.setTaskContext(task)
    try body
    finally {
      task.markTaskCompleted(None)
      TaskContext.unset()
    }
  }
}
