package io.firesteel.bench

/**
 * A query over far more keys than the heap can hold. Arithmetic gives the right answer.
 *
 * @param heapMiB the heap of the JVM that runs it
 */
final case class MemoryCase(title: String, heapMiB: Int, table: Table, questions: Seq[Known])

/** A query of one row of numbers, and that row. */
final case class Known(title: String, sql: String, expected: Seq[Long])

/** The outcome of one query; none if its JVM ran out of memory. */
final case class MemoryOutcome(
    title: String,
    firesteelSeconds: Double,
    stockSeconds: Double,
    answerRows: Long,
    spilledBytes: Long,
    fired: Seq[String])
