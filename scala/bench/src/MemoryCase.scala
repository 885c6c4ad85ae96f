package io.firesteel.bench

/**
 * A query over far more keys than the heap can hold, whose right answer is known by arithmetic.
 *
 * @param heapMiB the heap of the JVM that has to get through it
 */
final case class MemoryCase(title: String, heapMiB: Int, table: Table, questions: Seq[Known])

/** A query of one row of numbers, and that row. */
final case class Known(title: String, sql: String, expected: Seq[Long])

/** How one question went; a JVM that ran out of memory has left none. */
final case class MemoryOutcome(
    title: String,
    firesteelSeconds: Double,
    stockSeconds: Double,
    answerRows: Long,
    spilledBytes: Long,
    fired: Seq[String])
