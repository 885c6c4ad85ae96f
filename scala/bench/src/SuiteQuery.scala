package io.firesteel.bench

/**
 * A query of a suite, for firesteel and for Flink, over the same files.
 *
 * @param sql firesteel's text
 * @param answer columns of the result that are compared beside its number of rows, all of whole
 *   numbers: both engines can sum those exactly
 * @param mode firesteel's output mode
 * @param compared the query whose answer is compared
 * @param tables lets queries read the tables by their names
 * @param streams the same, as streams
 * @param timed Flink's job; the changes of its result are dropped
 * @param sum Flink's checksum of its answer; none if the answer cannot be the batch query's
 */
final case class SuiteQuery(
    name: String,
    sql: String,
    answer: Seq[String],
    mode: String,
    compared: String,
    tables: () => Unit,
    streams: () => Unit,
    timed: FlinkJob,
    sum: Option[FlinkJob])
