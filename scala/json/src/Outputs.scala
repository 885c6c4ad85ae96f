package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.util.DateTimeUtils

/**
 * The root of a document whose grammar has been checked, and its members.
 *
 * @param plainNames see [[JsonText]]
 */
final private[json] class Root(val names: Array[String], plainNames: Boolean = false) {
  val text = new JsonText(plainNames)
  val members = new Members(names.map(Readers.bytesOf))
  private[this] var first = 0
  private[this] var last = 0

  def from: Int = first

  def until: Int = last

  def isObject: Boolean = text.byteAt(first) == '{'

  /**
   * Where the root ends; `HandOver` if Spark must read it, as only objects and arrays are read here;
   * `Stopped` if who listens to the members has stopped.
   */
  def find(from: Int): Int = {
    first = from
    last = text.byteAt(from) match {
      case '{' => members.find(text, from + 1, 1)
      case '[' => text.skipValue(from, 0)
      case _ => JsonText.HandOver
    }
    last
  }

  def slot(name: String): Int = names.indexOf(name)
}

/** Writes one output of a document; false if Spark must evaluate it. */
abstract private[json] class Output {
  def write(root: Root, row: UnsafeRowWriter, ordinal: Int): Boolean
}

private[json] object Output {

  /** The names of root members that a reading looks for. */
  def names(reading: Reading): Seq[String] = reading match {
    case Reading.Field(name, _, _) => Seq(name)
    case Reading.Struct(schema, corrupt, _) => schema.names.toSeq.filter(_ != corrupt)
    case Reading.Path(Seq(Reading.Name(name), _*)) => Seq(name)
    case _ => Nil
  }

  def of(reading: Reading, root: Root): Output = reading match {
    case Reading.Field(name, dataType, zone) =>
      new FieldOutput(root.slot(name), Readers.of(dataType, DateTimeUtils.getZoneId(zone)))
    case Reading.Struct(schema, corrupt, zone) =>
      val readers = schema.map(field => Readers.of(field.dataType, DateTimeUtils.getZoneId(zone)))
      val slots = schema.names.map(name => if (name == corrupt) -1 else root.slot(name))
      new StructOutput(new StructWriter(slots, readers.toArray))
    case Reading.Whole(dataType, zone) =>
      new WholeOutput(Readers.of(dataType, DateTimeUtils.getZoneId(zone)))
    case Reading.Path(steps) => new PathOutput(steps, root)
  }
}

final private class FieldOutput(slot: Int, reader: ValueReader) extends Output {
  override def write(root: Root, row: UnsafeRowWriter, ordinal: Int): Boolean =
    root.isObject && {
      val from = root.members.starts(slot)
      if (from < 0) {
        reader.writeNull(row, ordinal)
        true
      } else reader.read(root.text, from, root.members.ends(slot), row, ordinal)
    }
}

final private class StructOutput(struct: StructWriter) extends Output {
  override def write(root: Root, row: UnsafeRowWriter, ordinal: Int): Boolean =
    root.isObject && struct.write(root.text, root.members, row, ordinal)
}

final private class WholeOutput(reader: ValueReader) extends Output {
  override def write(root: Root, row: UnsafeRowWriter, ordinal: Int): Boolean =
    reader.read(root.text, root.from, root.until, row, ordinal)
}

/** The text at a path. Nothing is there if a step does not fit its value, or a member is null. */
final private class PathOutput(steps: Seq[Reading.Step], root: Root) extends Output {

  private[this] val slot = steps.head match {
    case Reading.Name(name) => root.slot(name)
    case _ => -1
  }
  private[this] val walks: Array[Walk] =
    (if (slot >= 0) steps.tail else steps).map(Walk.of).toArray
  private[this] val endsAtName = steps.last.isInstanceOf[Reading.Name]
  private[this] val reader = new StringReader

  override def write(root: Root, row: UnsafeRowWriter, ordinal: Int): Boolean = {
    val text = root.text
    var from = if (slot < 0) root.from else if (root.isObject) root.members.starts(slot) else -1
    var until = if (slot < 0) root.until else if (from >= 0) root.members.ends(slot) else -1
    var exact = true
    var i = 0
    while (from >= 0 && i < walks.length) {
      exact = walks(i).step(text, from)
      from = if (exact) walks(i).from else -1
      until = walks(i).until
      i += 1
    }
    val isNull = from < 0 || (endsAtName && text.byteAt(from) == 'n')
    if (!exact) false
    else if (isNull) {
      row.setNullAt(ordinal)
      true
    } else reader.text(text, from, until, row, ordinal)
  }
}
