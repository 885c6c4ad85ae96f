package io.firesteel.changelog.store

import java.io.{DataInputStream, IOException}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Reads the files of Spark's `HDFSBackedStateStoreProvider`, changes and snapshots: the size of a key
 * in four bytes, the key, the size of its value, the value. A size of -1 stands for a value if the key
 * is removed, and for a key at the end.
 */
private[store] object StateFile {

  /**
   * @param entry gets each key and value, null for a removal; the next entry overwrites both rows
   * @throws IOException the file is no such file, or ends too early
   */
  def read(in: DataInputStream, keyFields: Int, valueFields: Int)(
      entry: (UnsafeRow, UnsafeRow) => Unit): Unit = {
    val (key, value) = (new Row(in, keyFields), new Row(in, valueFields))
    while (key.read()) entry(key.row, if (value.read()) value.row else null)
  }

  final private class Row(in: DataInputStream, fields: Int) {
    private[this] var bytes = new Array[Byte](256)
    val row = new UnsafeRow(fields)

    /** Whether there is a row. */
    def read(): Boolean = {
      val size = in.readInt()
      if (size < -1 || size % 8 > 0) throw new IOException(s"a row of $size bytes")
      if (size >= 0) {
        if (bytes.length < size) bytes = new Array[Byte](math.max(size, size + size / 4))
        in.readFully(bytes, 0, size)
        row.pointTo(bytes, size)
      }
      size >= 0
    }
  }
}
