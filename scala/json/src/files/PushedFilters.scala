package io.firesteel.json.files

import io.firesteel.json.{JsonText, Members, Readers, Root, Utf8, ValueReader}

import java.time.ZoneId

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.json.JsonFilters
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType

/**
 * The filters that Spark pushes into a scan, asked as Spark's parser asks them: each as soon as the
 * document has its fields, in the document's order. If one says no, the rest of the line is not
 * looked at, and the line has no row.
 *
 * A filter is also asked above the scan. But conditions before it must not see other rows than in
 * Spark.
 */
final private[files] class PushedFilters(
    filters: Seq[Filter],
    schema: StructType,
    zone: ZoneId,
    root: Root)
  extends Members.Listener {

  private[this] val asked = new JsonFilters(filters, schema)
  private[this] val row = new UnsafeRowWriter(schema.length, schema.length * 32)
  private[this] val fields: Array[ValueReader] = {
    val names = filters.flatMap(_.references).toSet
    // Without partial results a value that cannot be read leaves Spark's parser inside it.
    val all = filters.exists(_.references.isEmpty) || !names.forall(schema.names.contains) ||
      !SQLConf.get.getConf(SQLConf.JSON_ENABLE_PARTIAL_RESULTS)
    schema.map { field =>
      if (all || names(field.name)) Readers.of(field.dataType, zone, source = true) else null
    }.toArray
  }
  private[this] var isSure = true
  private[this] var last = -1

  root.members.tell(this)

  /** Before a line. No filter reads a field that the line has not had. */
  def begin(): Unit = {
    asked.reset()
    row.reset()
    row.zeroOutNullBytes()
    isSure = true
  }

  override def stops(field: Int): Boolean = isSure && {
    isSure = endsAt(root.members.ends(field)) && (fields(field) == null || fields(field)
      .read(root.text, root.members.starts(field), root.members.ends(field), row, field))
    last = field
    isSure && asked.skipRow(row.getRow, field)
  }

  /** Whether a value ends there. Spark's parser looks at the next byte before a filter is asked. */
  private def endsAt(at: Int): Boolean = {
    val next = root.text.byteAt(at)
    next == ',' || next == '}' || JsonText.isSpace(next)
  }

  /** Whether Spark's parser comes to the field that has stopped the line: its bytes are UTF-8. */
  def isReached: Boolean =
    Utf8.isValid(root.text.bytes, root.text.start, root.members.ends(last))
}
