package io.firesteel.bench

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerJobStart}
import org.apache.spark.scheduler.{SparkListenerTaskEnd, TaskInfo}

/** Records the tasks of a run. */
final class TaskLog(context: SparkContext) extends SparkListener {

  private val tasks = mutable.Buffer.empty[TaskTime]
  private val markerStages = mutable.Set.empty[Int]
  private val markersRunning = mutable.Map.empty[Int, String]
  private val markersAwaited = mutable.Map.empty[String, CountDownLatch]
  private var markers = 0

  context.addSparkListener(this)

  /** Runs `body`, and returns its time and its tasks. */
  def time(body: => Unit): Run = {
    synchronized(tasks.clear())
    val from = System.nanoTime()
    body
    val seconds = (System.nanoTime() - from) / 1e9
    awaitEvents()
    synchronized(Run(seconds, tasks.filterNot(task => markerStages(task.stage)).toSeq))
  }

  /**
   * Spark calls listeners later, on another thread, but in order. When the end of a small job that
   * started after the run arrives, everything about the run has arrived.
   */
  private def awaitEvents(): Unit = {
    val (group, seen) = synchronized {
      markers += 1
      val awaited = new CountDownLatch(1)
      markersAwaited(s"marker $markers") = awaited
      (s"marker $markers", awaited)
    }
    context.setJobGroup(group, "marks the end of a timed run")
    try context.parallelize(Seq(0), 1).count()
    finally context.clearJobGroup()
    if (!seen.await(60, TimeUnit.SECONDS)) sys.error("Spark did not report the end of a job")
  }

  override def onJobStart(start: SparkListenerJobStart): Unit = synchronized {
    val group = Option(start.properties).flatMap(p => Option(p.getProperty("spark.jobGroup.id")))
    group.filter(markersAwaited.contains).foreach { marker =>
      markersRunning(start.jobId) = marker
      markerStages ++= start.stageIds
    }
  }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = synchronized {
    Option(end.taskMetrics).foreach { metrics =>
      tasks += TaskTime(
        end.stageId,
        metrics.executorRunTime / 1e3,
        metrics.shuffleReadMetrics.recordsRead,
        counts(end.taskInfo),
        metrics.peakExecutionMemory,
        metrics.shuffleWriteMetrics.bytesWritten
      )
    }
  }

  private def counts(task: TaskInfo): Map[String, Long] = {
    val added = for {
      accumulated <- task.accumulables.toSeq
      name <- accumulated.name if !name.startsWith("internal.")
      update <- accumulated.update.collect { case number: Long => number }
    } yield name -> update
    added.groupMapReduce(_._1)(_._2)(_ + _)
  }

  override def onJobEnd(end: SparkListenerJobEnd): Unit = synchronized {
    markersRunning.remove(end.jobId).flatMap(markersAwaited.remove).foreach(_.countDown())
  }
}
