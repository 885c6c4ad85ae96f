package io.firesteel.changelog.upsert

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.core.changes.RowKind

import scala.collection.mutable

import org.apache.spark.unsafe.types.UTF8String

/** A change of a row. */
final private[upsert] case class KeyChange(key: UTF8String, row: UTF8String, kind: Byte)

/** A record of an upsert topic; without a value it is a tombstone. */
final private[upsert] case class UpsertRecord(key: UTF8String, value: Option[UTF8String])

/**
 * The net change of each key from its changes in any order: the inserted rows less the retracted
 * ones. A key whose rows are the same as before has no record.
 *
 * @param changes the changes of a key are adjacent
 */
final private[upsert] class NetRecordsIterator(changes: Iterator[KeyChange])
  extends Iterator[UpsertRecord] {

  private val input = changes.buffered
  private var ready: Option[UpsertRecord] = None

  override def hasNext: Boolean = {
    while (ready.isEmpty && input.hasNext) ready = ofNextKey()
    ready.nonEmpty
  }

  override def next(): UpsertRecord = {
    if (!hasNext) throw new NoSuchElementException
    val record = ready.get
    ready = None
    record
  }

  private def ofNextKey(): Option[UpsertRecord] = {
    val key = input.head.key
    val copies = mutable.Map.empty[UTF8String, Int]
    while (input.hasNext && input.head.key == key) {
      val change = input.next()
      val sign = if (RowKind.isRetraction(change.kind)) -1 else 1
      copies.updateWith(change.row) { had => Some(had.getOrElse(0) + sign).filter(_ != 0) }
    }
    val (came, went) = copies.toSeq.partition(_._2 > 0)
    if (came.map(_._2).sum > 1 || -went.map(_._2).sum > 1) {
      throw ChangelogErrors.severalRows(key.toString)
    }
    came.headOption match {
      case Some((row, _)) => Some(UpsertRecord(key, Some(row)))
      case None if went.nonEmpty => Some(UpsertRecord(key, None))
      case None => None
    }
  }
}
