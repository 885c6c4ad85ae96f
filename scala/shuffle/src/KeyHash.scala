package io.firesteel.shuffle

import io.firesteel.core.rows.Mix64
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow, XxHash64}

/** Hashes the key of a row, which is in its first columns. */
private[shuffle] object KeyHash {

  def of(keys: Seq[Attribute], input: Seq[Attribute]): InternalRow => Long =
    if (keys.forall(key => UnsafeRow.isFixedLength(key.dataType))) ofWords(keys.size)
    else {
      val hash = UnsafeProjection.create(Seq(new XxHash64(keys)), input)
      row => hash(row).getLong(0)
    }

  /** The first words of a row. */
  private def ofWords(words: Int): InternalRow => Long = { row =>
    var hash = 0L
    var i = 0
    while (i < words) {
      hash = Mix64(hash ^ (if (row.isNullAt(i)) -1L else row.getLong(i)))
      i += 1
    }
    hash
  }
}
