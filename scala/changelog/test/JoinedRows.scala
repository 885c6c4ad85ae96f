package io.firesteel.changelog

import org.apache.spark.sql.Row

/** What is fed to the streams whose changelogs are joined, and the aggregate above which they are. */
trait JoinedRows {

  protected val schema = "k STRING, v INT"

  protected val batches = Seq(
    Seq(Row("a", 1), Row("a", 2), Row("b", 3), Row("x", 1), Row(null, 1)),
    Seq(Row("a", 3), Row("b", 3), Row("c", 1)),
    Nil,
    Seq(
      Row("c", 1),
      Row("c", 2),
      Row("c", null),
      Row("x", 5),
      Row("x", 6),
      Row(null, 1),
      Row("d", 9))
  )

  protected val counts = "(SELECT k, count(*) AS n, sum(v) AS s FROM {t} GROUP BY k) AS c"
}
