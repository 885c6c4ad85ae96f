package org.apache.spark.sql.firesteel

/** The CPUs of a task, a decimal since 4.3. */
object TaskCpus {
  val one: BigDecimal = BigDecimal(1)
}
