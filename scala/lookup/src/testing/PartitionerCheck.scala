package io.firesteel.lookup.testing

import io.firesteel.lookup.{InputDataPartitioner, LookupContext, SupportsLookup, SupportsLookupCustomShuffle, TaskInfo}

import scala.jdk.OptionConverters._

import org.apache.commons.lang3.SerializationUtils
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Checks a connector's partitioner, and what each shard answers; nothing without a partitioner. */
private[testing] final case class PartitionerCheck(table: SupportsLookup, store: CheckedStore) {
  private val asked = store.keysToAsk(store.keys)
  private val text = new RowText(store.keys)

  def run(): Unit = table match {
    case custom: SupportsLookup with SupportsLookupCustomShuffle =>
      val names = store.keys.fieldNames
      CheckFailure.in(table.name, "partitionKeys()")(custom.partitionKeys()).foreach { name =>
        if (!names.contains(name)) {
          CheckFailure(
            table.name,
            s"partitionKeys() returned $name, which is no key. lookupKeys chooses " +
              s"${names.mkString(", ")}, so no query would use the partitioner."
          )
        }
      }
      val partitioner = CheckFailure.in(table.name, "getPartitioner")(
        custom.getPartitioner(store.keys))
      if (partitioner == null) {
        CheckFailure(table.name, "getPartitioner returned null: return Optional.empty() instead.")
      }
      partitioner.toScala.foreach(found => Seq(1, 2, 3, 7).foreach(checkNumbers(found, _)))
    case _ => ()
  }

  private def checkNumbers(partitioner: InputDataPartitioner, count: Int): Unit = {
    val copy = CheckFailure.in(table.name, "Java serialization of the partitioner")(
      SerializationUtils.clone(partitioner))
    val numbers = asked.map(key => number(partitioner, key, count))
    if (CheckFailure.in(table.name, "isDeterministic()")(partitioner.isDeterministic())) {
      // In another order, from other bytes, and by what another process would receive.
      val again = asked.reverse.map(key => number(copy, key.copy(), count)).reverse
      asked.indices.find(i => numbers(i) != again(i)).foreach { i =>
        CheckFailure(
          table.name,
          s"the partitioner gave the key ${text.text(asked(i))} the partitions ${numbers(i)} and " +
            s"${again(i)} of $count. Compute the number from the values of the key alone, or let " +
            "isDeterministic() be false."
        )
      }
      asked.zip(numbers).groupMap(_._2)(_._1).toSeq.sortBy(_._1).foreach { case (shard, keys) =>
        checkShard(keys, shard, count)
      }
    }
  }

  private def number(partitioner: InputDataPartitioner, key: UnsafeRow, count: Int): Int = {
    val found = CheckFailure.in(table.name, s"partition of the key ${text.text(key)}")(
      partitioner.partition(key, count))
    if (found < 0 || found >= count) {
      CheckFailure(
        table.name,
        s"the partitioner gave the key ${text.text(key)} the partition $found. It must be from 0 " +
          s"to ${count - 1}.")
    }
    found
  }

  /** A task of a custom shuffle is asked the keys of its shard. */
  private def checkShard(keys: Seq[UnsafeRow], shard: Int, count: Int): Unit = {
    val context = new LookupContext(store.keys, store.schema, Array.empty, true, count)
    val function = OpenFunction(table, context, TaskInfo(shard, count, 0, s"check $shard"))
    val rows = store.rowsOf(store.keys, keys.toSet)
    try function.ways.foreach { way =>
        val what = s"$way in the shard $shard of $count"
        new Comparison(table.name, what, store.schema)
          .apply(function.ask(what, way, keys, Int.MaxValue), rows, rows)
      }
    finally function.close()
  }
}
