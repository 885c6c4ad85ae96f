package org.apache.spark.sql.firesteel

import org.apache.spark.{FutureAction, MapOutputStatistics}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike

import scala.concurrent.{CanAwait, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import scala.util.Try

/** The job of an exchange, for another exchange that stands for it. It is submitted at once. */
final class ShuffleJob(shuffle: ShuffleExchangeLike) extends FutureAction[MapOutputStatistics] {

  private val future: Future[MapOutputStatistics] = shuffle.submitShuffleJob()
  @volatile private var cancelled = false

  override def cancel(reason: Option[String]): Unit = {
    cancelled = true
    shuffle.cancelShuffleJob(reason)
  }

  override def isCancelled: Boolean = cancelled

  /** The inner exchange submits its job from another thread, so it has no known number here. */
  override def jobIds: Seq[Int] = Nil

  override def ready(atMost: Duration)(implicit permit: CanAwait): this.type = {
    future.ready(atMost)
    this
  }

  override def result(atMost: Duration)(implicit permit: CanAwait): MapOutputStatistics =
    future.result(atMost)

  override def onComplete[U](f: Try[MapOutputStatistics] => U)(implicit
      executor: ExecutionContext): Unit = future.onComplete(f)

  override def isCompleted: Boolean = future.isCompleted

  override def value: Option[Try[MapOutputStatistics]] = future.value

  override def transform[S](f: Try[MapOutputStatistics] => Try[S])(implicit
      executor: ExecutionContext): Future[S] = future.transform(f)

  override def transformWith[S](f: Try[MapOutputStatistics] => Future[S])(implicit
      executor: ExecutionContext): Future[S] = future.transformWith(f)
}
