package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreIterator, UnsafeRowPair}
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/**
 * The schema of one store with the state of several operators. Both providers can keep it: it needs
 * no column families. The columns of each member have its number before their names, and are null
 * in the entries of the others.
 *
 * {{{
 *   member | 0_aggregate_key_0 | 1_topn_partition_0 | 1_topn_column_0 | 0_aggregate_sum_0 | ...
 *   0      | k=1               |                    |                 | 17
 *   1      |                   | k=1                | v=9             |
 * }}}
 *
 * Columns by which a member scans come before all others.
 *
 * @param members their layouts, as they are stored
 */
final private[changelog] case class SharedLayout(members: Seq[StateLayout]) {

  private def heads: Seq[SharedColumn] = columns(m => m.key.take(m.scanned), _ => 0)
  private def rests: Seq[SharedColumn] = columns(m => m.key.drop(m.scanned), _.scanned)
  private val scans = members.exists(_.prefix > 0)

  /** The columns of keys after the member's number. */
  private[state] val ofKeys: Seq[SharedColumn] = heads ++ rests

  private[state] val ofPrefixes: Seq[SharedColumn] = heads

  private[state] val ofValues: Seq[SharedColumn] = columns(_.value, _ => 0)

  /** The layout of the whole store. */
  val whole: StateLayout = StateLayout(
    "shared",
    StructType(StructField(SharedLayout.member, IntegerType) +: ofKeys.map(_.field)),
    StructType(ofValues.map(_.field)),
    if (scans) 1 + heads.size else 0)

  /** Of a member the names of the first columns of its key. */
  def keyNames(member: Int, count: Int): Seq[String] =
    members(member).key.fieldNames.toSeq.take(count).map(SharedLayout.named(member, _))

  private def columns(of: StateLayout => Seq[StructField], first: StateLayout => Int) =
    members.zipWithIndex.flatMap { case (layout, member) =>
      of(layout).zipWithIndex.map { case (field, i) =>
        SharedColumn(
          member,
          first(layout) + i,
          field.copy(name = SharedLayout.named(member, field.name)))
      }
    }
}

private[changelog] object SharedLayout {

  val member: String = "member"

  def named(member: Int, column: String): String = s"${member}_$column"

  /** The columns of one member, with the names that it gave them. */
  def ownNames(member: Int, all: Seq[String]): Seq[String] = {
    val mark = named(member, "")
    all.filter(_.startsWith(mark)).map(_.stripPrefix(mark))
  }
}

/**
 * A column of a shared store.
 *
 * @param at its place among the columns of its member's key or value
 */
final private[state] case class SharedColumn(member: Int, at: Int, field: StructField)

/**
 * The part of a shared store that belongs to one member. Rows are copied: what is read stays as it
 * is, whatever is read next.
 */
final private[state] class MemberStore(store: StateStore, layout: SharedLayout, member: Int)
  extends KeyedStore {

  private[this] val under = KeyedStore.of(store)
  private[this] val own = layout.members(member)
  private[this] val number: Expression = Literal(member)
  private[this] val toKey = UnsafeProjection.create(number +: layout.ofKeys.map(shared))
  private[this] val toPrefix = UnsafeProjection.create(number +: layout.ofPrefixes.map(shared))
  private[this] val toValue = UnsafeProjection.create(layout.ofValues.map(shared))
  private[this] val ofKey = UnsafeProjection.create(mine(layout.ofKeys, 1))
  private[this] val ofValue = UnsafeProjection.create(mine(layout.ofValues, 0))

  /** A column of the shared store, from a row of this member. */
  private def shared(column: SharedColumn): Expression =
    if (column.member == member) BoundReference(column.at, column.field.dataType, nullable = true)
    else Literal(null, column.field.dataType)

  /** The columns of this member, from a row of the shared store. */
  private def mine(columns: Seq[SharedColumn], before: Int): Seq[Expression] =
    columns.zipWithIndex.filter(_._1.member == member).sortBy(_._1.at).map { case (column, i) =>
      BoundReference(before + i, column.field.dataType, nullable = true)
    }

  private def copied(projection: UnsafeProjection, row: InternalRow) = projection(row).copy()

  override def get(key: UnsafeRow): UnsafeRow = {
    val value = under.get(toKey(key))
    if (value == null) null else copied(ofValue, value)
  }

  override def put(key: UnsafeRow, value: UnsafeRow): Unit = under.put(toKey(key), toValue(value))

  override def remove(key: UnsafeRow): Unit = under.remove(toKey(key))

  override def withPrefix(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair] = {
    require(prefix.numFields == own.prefix, "a prefix has all columns of a scan")
    mine(under.withPrefix(toPrefix(prefix)))
  }

  override def all(): StateStoreIterator[UnsafeRowPair] = mine(under.all())

  private def mine(
      entries: StateStoreIterator[UnsafeRowPair]): StateStoreIterator[UnsafeRowPair] = {
    val own = entries.filter(_.key.getInt(0) == member).map { entry =>
      new UnsafeRowPair(copied(ofKey, entry.key), copied(ofValue, entry.value))
    }
    new StateStoreIterator(own, () => entries.close())
  }

  override def readsSnapshots: Boolean = under.readsSnapshots
  override def keepsRows: Boolean = true
  override def sortsKeys: Boolean = under.sortsKeys
  override def turn: Long = under.turn
}
