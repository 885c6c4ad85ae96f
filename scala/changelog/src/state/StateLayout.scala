package io.firesteel.changelog.state

import org.apache.spark.sql.execution.streaming.state.{KeyStateEncoderSpec, NoPrefixKeyStateEncoderSpec, PrefixKeyScanStateEncoderSpec}
import org.apache.spark.sql.firesteel.asNullable
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType, StructField, StructType}

/**
 * What one state store of an operator holds.
 *
 * Names of columns begin with the operator's, so that two operators may one day share a store; what
 * else must agree at a restart, such as n of a Top-N, is in them too.
 *
 * @param prefix how many columns of the key all entries of a group share; 0 when a group has one
 *   entry and is never scanned
 * @param tables what is in the store where that is more than one thing, see [[StateTable]]
 */
final private[changelog] case class StateLayout(
    operator: String,
    key: StructType,
    value: StructType,
    prefix: Int,
    tables: Seq[TableLayout] = Nil) {

  /** The same with the time at which an entry was written, by which it expires. */
  def expiring: StateLayout =
    copy(value = StructType(value :+ StateLayout.field(operator, "written_at", LongType)))

  def encoder: KeyStateEncoderSpec =
    if (prefix == 0) NoPrefixKeyStateEncoderSpec(key)
    else PrefixKeyScanStateEncoderSpec(key, prefix)

  /** How this layout differs from that of the checkpoint, in words. */
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
 * A table in a store that has several.
 *
 * @param entry columns that tell entries of one key apart; none where a key has one
 * @param replicated whether every partition of the state has the same entries
 */
final private[changelog] case class TableLayout(
    name: String,
    entry: StructType,
    value: StructType,
    replicated: Boolean = false)

private[changelog] object StateLayout {

  /**
   * A store with several tables, whose keys all begin with the operator's. Neither provider need
   * have column families: the table's number is a column of the key, and what a table has of its own
   * is a row in bytes.
   *
   * {{{
   *   keys | table | position | entry                | value
   *   k=1  | 0     | 0        | columns of table 0's | columns of table 0's
   *   k=1  | 1     | 17       | columns of table 1's | columns of table 1's
   * }}}
   *
   * A position is where an entry stands in the order of its key; see [[StateTable.inOrder]].
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

  /** Nullability may change from batch to batch, as Spark learns it; state takes no notice. */
  def field(operator: String, name: String, dataType: DataType): StructField =
    StructField(s"${operator}_$name", asNullable(dataType), nullable = true)
}
