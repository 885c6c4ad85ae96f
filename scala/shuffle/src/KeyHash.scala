package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow, XxHash64}

/** Hashes the key of a row, the first of its columns. */
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
      hash = mixed(hash ^ (if (row.isNullAt(i)) -1L else row.getLong(i)))
      i += 1
    }
    hash
  }

  /** Every bit of the result depends on every bit: the finaliser of MurmurHash3. */
  private def mixed(word: Long): Long = {
    val first = (word ^ (word >>> 33)) * 0xff51afd7ed558ccdL
    val second = (first ^ (first >>> 33)) * 0xc4ceb9fe1a85ec53L
    second ^ (second >>> 33)
  }
}
