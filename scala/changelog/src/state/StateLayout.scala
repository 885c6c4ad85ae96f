package io.firesteel.changelog.state

import org.apache.spark.sql.execution.streaming.state.{KeyStateEncoderSpec, NoPrefixKeyStateEncoderSpec, PrefixKeyScanStateEncoderSpec}
import org.apache.spark.sql.firesteel.asNullable
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType, StructField, StructType}

/**
 * The schema of one state store of an operator.
 *
 * Column names begin with the operator's name, so that two operators can share a store. They also
 * contain whatever must stay the same at a restart, such as the n of a Top-N.
 *
 * @param prefix number of leading key columns that all entries of a group share; 0 if a group has
 *   one entry and is never scanned
 * @param tables the tables of a store with more than one, see [[StateTable]]
 * @param keysAt place of the first column by which rows are distributed
 */
final private[changelog] case class StateLayout(
    operator: String,
    key: StructType,
    value: StructType,
    prefix: Int,
    tables: Seq[TableLayout] = Nil,
    keysAt: Int = 0) {

  /** The same with the time of the last write, for a time to live. */
  def expiring: StateLayout =
    copy(value = StructType(value :+ StateLayout.field(operator, StateLayout.writtenAt, LongType)))

  /** The times to live of the tables, in their order; 0 for ever. */
  def lifetimes(ofTables: Seq[Long]): Lifetimes =
    Lifetimes.OfTables(key.length - 3, ofTables.map(ms => if (ms == 0L) Long.MaxValue else ms))

  def encoder: KeyStateEncoderSpec =
    if (prefix == 0) NoPrefixKeyStateEncoderSpec(key)
    else PrefixKeyScanStateEncoderSpec(key, prefix)

  /** How this layout differs from the checkpoint's, in words. */
  def differences(keyBefore: StructType, valueBefore: StructType): Seq[String] =
    compare("key", keyBefore, key) ++ compare("value", valueBefore, value)

  private def compare(part: String, before: StructType, now: StructType): Seq[String] =
    before.fields.toSeq.map(Option(_)).zipAll(now.fields.toSeq.map(Option(_)), None, None).collect {
      case (old, current) if old.map(text) != current.map(text) =>
        s"$part column ${old.fold("none")(text)} is now ${current.fold("none")(text)}"
    }

  private def text(field: StructField): String =
    s"${field.name}: ${asNullable(field.dataType).sql}"
}

/**
 * A table in a store with several tables.
 *
 * @param entry columns that distinguish the entries of one key; none if a key has one entry
 * @param replicated whether every partition of the state has the same entries
 */
final private[changelog] case class TableLayout(
    name: String,
    entry: StructType,
    value: StructType,
    replicated: Boolean = false)

private[changelog] object StateLayout {

  /** The last column of a value with a time to live. */
  val writtenAt: String = "written_at"

  /**
   * A store with several tables, whose keys all begin with the operator's key. It needs no column
   * families, so both providers work: the number of the table is a column of the key, and a table's
   * own columns are one row in bytes.
   *
   * {{{
   *   keys | table | position | entry                | value
   *   k=1  | 0     | 0        | columns of table 0's | columns of table 0's
   *   k=1  | 1     | 17       | columns of table 1's | columns of table 1's
   * }}}
   *
   * A position is the place of an entry in the order of its key; see [[StateTable.inOrder]].
   */
  def ofTables(operator: String, keys: Seq[DataType], tables: Seq[TableLayout]): StateLayout = {
    val shared = keys.zipWithIndex.map { case (t, i) => field(operator, s"key_$i", t) }
    StateLayout(
      operator,
      StructType(
        shared ++ Seq(
          field(operator, "table", IntegerType),
          field(operator, "position", LongType),
          field(operator, "entry", BinaryType))),
      StructType(Seq(field(operator, "value", BinaryType))),
      prefix = keys.size + 1,
      tables
    )
  }

  /** Always nullable: Spark's inferred nullability may change from one micro-batch to the next. */
  def field(operator: String, name: String, dataType: DataType): StructField =
    StructField(s"${operator}_$name", asNullable(dataType), nullable = true)
}
