package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/** Times queries. */
final class Clock(spark: SparkSession, tasks: TaskLog) {

  /** Wall time from SQL text to the last row, in a sink that drops the rows. */
  def time(contestant: Contestant): Run = {
    System.gc() // before the clock starts, so that nobody pays for another's garbage
    contestant.within(spark) {
      tasks.time(spark.sql(contestant.sql).write.format("noop").mode("overwrite").save())
    }
  }
}
