package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogSuite

import java.nio.file.Files
import java.util.UUID

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreConf, StateStoreId, StateStoreProvider, StateStoreProviderId}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, IntegerType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Entries of a key by their positions, in a real store of each kind. */
class StateInOrderSuite extends ChangelogSuite {

  private val layout = StateLayout.ofTables(
    "test",
    Seq(StringType),
    Seq("one", "two").map(TableLayout(
      _,
      new StructType().add("id", IntegerType),
      new StructType().add("v", LongType))))

  private def row(types: DataType*)(values: Any*): UnsafeRow =
    UnsafeProjection.create(types.toArray)(InternalRow(values: _*)).copy()

  private def key(k: String) = row(StringType)(UTF8String.fromString(k))

  private def withStore(provider: String)(body: StateStore => Any): Unit = {
    // Makes the coordinator of stores, to which RocksDB's report their snapshots.
    val _ = spark.streams
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, provider)
    val id = StateStoreId(Files.createTempDirectory("firesteel-order").toString, 0, 0)
    val hadoop = new Configuration
    hadoop.set(StreamId.run, UUID.randomUUID().toString)
    val made = StateStoreProvider.createAndInit(
      StateStoreProviderId(id, UUID.randomUUID()),
      layout.key,
      layout.value,
      layout.encoder,
      useColumnFamilies = false,
      new StateStoreConf(conf),
      hadoop,
      useMultipleValuesPerKey = false,
      stateSchemaProvider = None
    )
    try {
      val store = made.getStore(0, None)
      val _ = body(store)
      store.abort()
    } finally made.close()
  }

  private object StreamId {
    val run = "sql.streaming.runId"
  }

  private def tables(store: StateStore): Seq[StateTable] = {
    def metric = SQLMetrics.createMetric(spark.sparkContext, "m")
    val entries =
      new StateEntries(KeyedStore.of(store), StateCounts(metric, metric, metric, metric))
    Seq(0, 1).map(new StateTable(entries, layout, _))
  }

  private def read(table: StateTable, k: String, most: Int, first: Int) = {
    val found = ArrayBuffer.empty[(Long, Int, Long)]
    table.inOrder(key(k), most) { (position, entry, value) =>
      found += ((position, entry.getInt(0), value.getLong(0)))
      found.size < first
    }
    found.toSeq
  }

  providers.foreach { provider =>
    test(s"entries of a key come by their positions, ${provider.split('.').last}") {
      withStore(provider) { store =>
        val all = tables(store)
        val random = new Random(3)
        val special = Seq(Long.MinValue, -1L, 0L, 1L, 255L, 256L, Long.MaxValue)
        val put = Seq.tabulate(300) { i =>
          val position =
            if (i < special.size) special(i) else random.nextLong() >> random.nextInt(60)
          (random.nextInt(2), Seq("a", "b", "")(random.nextInt(3)), position, i)
        }
        put.foreach { case (table, k, position, i) =>
          all(table).put(key(k), row(IntegerType)(i), row(LongType)(i * 2L), position)
        }
        val (gone, kept) = put.partition(_._4 % 7 == 0)
        gone.foreach { case (table, k, position, i) =>
          all(table).remove(key(k), row(IntegerType)(i), position)
        }
        for { table <- 0 to 1; k <- Seq("a", "b", "", "none") } {
          val wanted = kept.collect { case (`table`, `k`, p, i) => (p, i, i * 2L) }.sortBy(_._1)
          assert(read(all(table), k, 1000, Int.MaxValue) == wanted)
          assert(read(all(table), k, 1000, 3) == wanted.take(3))
        }
      }
    }
  }

  test("RocksDB holds no entries; the default provider says how many are too many") {
    def fill(store: StateStore) = {
      val table = tables(store).head
      (0 until 20).foreach(i =>
        table.put(key("a"), row(IntegerType)(i), row(LongType)(0L), 20L - i))
      table
    }
    withStore(rocksDb)(store => assert(read(fill(store), "a", 5, 2).map(_._1) == Seq(1L, 2L)))
    withStore(hdfs) { store =>
      val text = intercept[Exception](read(fill(store), "a", 5, 2)).getMessage
      assert(text.contains("FIRESTEEL_CHANGELOG_TOO_MANY_IN_ORDER") && text.contains("RocksDB"))
    }
  }
}
