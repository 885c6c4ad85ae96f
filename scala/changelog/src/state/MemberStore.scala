package io.firesteel.changelog.state

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow, Literal, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/**
 * The schema of one store with the state of several operators. Both providers can keep it: it needs
 * no column families. Each member has columns of its own, with its number before their names. They
 * are null in the entries of the others.
 *
 * {{{
 *   member | 0_key | 1_topn_partition_0 | 1_topn_column_0 | 0_value        | 1_value
 *   0      | {k=1} |                    |                 | {sum=17, ...}  |
 *   1      |       | k=1                | v=9             |                | {count=1}
 * }}}
 *
 * The key of a member that is never scanned, and every value, is a struct: its bytes are those of
 * the row, so they are neither taken apart nor put together. Columns by which a member scans come
 * before all others, and in RocksDB the columns after them order its entries.
 *
 * @param members their layouts, as they are stored
 */
final private[changelog] case class SharedLayout(members: Seq[StateLayout]) {
  import SharedLayout._

  /** The columns of keys after the member's number. */
  private[state] val ofKeys: Seq[SharedColumn] =
    each(m => if (isScanned(m)) columns(m.key.take(m.prefix), 0) else struct("key", m.key)) ++
      each(m => if (isScanned(m)) columns(m.key.drop(m.prefix), m.prefix) else Nil)

  /** Number of columns by which stores scan, after the member's number; 0 if they never do. */
  private[state] val scanned: Int =
    if (members.exists(isScanned)) members.map(m => if (isScanned(m)) m.prefix else 1).sum else 0

  private[state] val ofValues: Seq[SharedColumn] = each(m => struct("value", m.value))

  /** The layout of the whole store. */
  val whole: StateLayout = StateLayout(
    "shared",
    StructType(StructField(SharedLayout.member, IntegerType) +: ofKeys.map(_.field)),
    StructType(ofValues.map(_.field)),
    if (scanned == 0) 0 else 1 + scanned
  )

  /** Of a member the columns by which its rows are distributed: `column`, or `column.field` within a struct. */
  def keyNames(member: Int, count: Int): Seq[String] = {
    val its = members(member)
    val names = its.key.fieldNames.toSeq.slice(its.keysAt, its.keysAt + count)
    if (isScanned(members(member))) names.map(named(member, _))
    else names.map(name => s"${named(member, "key")}.$name")
  }

  private def each(of: StateLayout => Seq[(Int, StructField)]): Seq[SharedColumn] =
    members.zipWithIndex.flatMap { case (layout, member) =>
      of(layout).map { case (at, field) =>
        SharedColumn(member, at, field.copy(name = named(member, field.name)))
      }
    }
}

private[changelog] object SharedLayout {

  val member: String = "member"

  private[state] def isScanned(member: StateLayout): Boolean = member.prefix > 0

  private def columns(fields: Seq[StructField], from: Int): Seq[(Int, StructField)] =
    fields.zipWithIndex.map { case (field, i) => (from + i, field) }

  private def struct(name: String, row: StructType): Seq[(Int, StructField)] =
    Seq(0 -> StructField(name, row))

  private def named(member: Int, column: String): String = s"${member}_$column"

  /** The values of each member; none if the store is not shared. */
  private[state] def valuesOf(value: StructType): Seq[StructType] =
    value.zipWithIndex.flatMap { case (column, member) =>
      column.dataType match {
        case its: StructType if column.name == named(member, "value") => Some(its)
        case _ => None
      }
    }

  /** The columns of one member, with the names that it gave them. */
  def ownNames(member: Int, all: StructType): Seq[String] = {
    val mark = named(member, "")
    all.filter(_.name.startsWith(mark)).flatMap { field =>
      field.dataType match {
        case row: StructType if Seq("key", "value").map(mark + _).contains(field.name) =>
          row.fieldNames.toSeq
        case _ => Seq(field.name.stripPrefix(mark))
      }
    }
  }

  /** The place of a column that [[SharedLayout.keyNames]] names: in the key, and in a struct. */
  def placeOf(key: StructType, name: String): Seq[Int] = name.split('.').toSeq match {
    case Seq(struct, field) =>
      val at = key.fieldIndex(struct)
      Seq(at, key(at).dataType.asInstanceOf[StructType].fieldIndex(field))
    case _ => Seq(key.fieldIndex(name))
  }
}

/**
 * A column of a shared store.
 *
 * @param at its place among the columns of its member's key; 0 for a whole row
 */
final private[state] case class SharedColumn(member: Int, at: Int, field: StructField)

/**
 * The part of a shared store that belongs to one member. Both providers return rows over bytes that
 * stay as they are, and so does it.
 *
 * @param under the whole store
 * @param sweeps takes entries of all members out of it at the end
 */
final private[state] class MemberStore(
    under: KeyedStore,
    sweeps: SharedSweep,
    layout: SharedLayout,
    member: Int)
  extends KeyedStore {

  private[this] val own = layout.members(member)
  private[this] val isScanned = SharedLayout.isScanned(own)
  private[this] val number: Expression = Literal(member)
  private[this] val whole = new GenericInternalRow(1)
  private[this] val toKey = ColumnProjection(number +: layout.ofKeys.map(shared))
  private[this] val toPrefix =
    ColumnProjection(number +: layout.ofKeys.take(layout.scanned).map(shared))
  private[this] val toValue = ColumnProjection(layout.ofValues.map(shared))
  private[this] val (keyAt, valueAt) =
    (
      1 + layout.ofKeys.indexWhere(_.member == member),
      layout.ofValues.indexWhere(_.member == member))
  private[this] val flatKey = ColumnProjection(
    layout.ofKeys.zipWithIndex.filter(_._1.member == member).sortBy(_._1.at).map {
      case (column, i) => BoundReference(1 + i, column.field.dataType, nullable = true)
    })

  /** A column of the shared store, from a row of this member, or from a row with that row. */
  private def shared(column: SharedColumn): Expression =
    if (column.member == member) BoundReference(column.at, column.field.dataType, nullable = true)
    else Literal(null, column.field.dataType)

  private def wrapped(row: UnsafeRow): InternalRow = {
    whole.update(0, row)
    whole
  }

  private def sharedKey(key: UnsafeRow): UnsafeRow = toKey(if (isScanned) key else wrapped(key))

  private def ownKey(key: UnsafeRow): UnsafeRow =
    if (isScanned) flatKey(key).copy() else key.getStruct(keyAt, own.key.size)

  private def ownValue(value: UnsafeRow): UnsafeRow = value.getStruct(valueAt, own.value.size)

  override def get(key: UnsafeRow): UnsafeRow = {
    val value = under.get(sharedKey(key))
    if (value == null) null else ownValue(value)
  }

  override def put(key: UnsafeRow, value: UnsafeRow): Unit =
    under.put(sharedKey(key), toValue(wrapped(value)))

  override def remove(key: UnsafeRow): Unit = under.remove(sharedKey(key))

  override def withPrefix(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair] =
    mine(under.withPrefix(toPrefix(prefix)))

  override def all(): StateStoreIterator[UnsafeRowPair] = mine(under.all())

  private def mine(
      entries: StateStoreIterator[UnsafeRowPair]): StateStoreIterator[UnsafeRowPair] = {
    val own = entries.filter(_.key.getInt(0) == member).map(ownPair)
    new StateStoreIterator(own, () => entries.close())
  }

  private def ownPair(entry: UnsafeRowPair): UnsafeRowPair =
    new UnsafeRowPair(ownKey(entry.key), ownValue(entry.value))

  override def sweep(unwanted: UnsafeRowPair => Boolean)(removed: Long => Unit): Unit =
    sweeps.add(member)(entry => unwanted(ownPair(entry)))(removed)

  override def readsSnapshots: Boolean = under.readsSnapshots
  override def keepsRows: Boolean = true
  override def sortsKeys: Boolean = under.sortsKeys
  override def readBeforeClosing(): Unit = under.readBeforeClosing()
  override def turn: Long = under.turn
  override def ofMember(number: Int): KeyedStore = new MemberStore(under, sweeps, layout, number)
}
