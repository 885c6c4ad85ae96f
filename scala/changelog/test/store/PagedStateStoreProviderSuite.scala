package io.firesteel.changelog.store

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.{ChangelogConf, TextFile}

import java.nio.file.{Files, Paths}
import java.util.UUID

import scala.collection.mutable
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{KeyStateEncoderSpec, NoPrefixKeyStateEncoderSpec, PrefixKeyScanStateEncoderSpec, StateStore, StateStoreConf, StateStoreId, StateStoreProvider, StateStoreProviderId, UnsafeRowPair}
import org.apache.spark.sql.firesteel.{executionOf, OwnStateStores}
import org.apache.spark.sql.firesteel.streaming.{memoryStream, CheckpointFileManager}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** State in pages beside Spark's own provider, over the same files. */
class PagedStateStoreProviderSuite extends ChangelogSuite {

  private val keys = new StructType().add("p", IntegerType).add("k", StringType)
  private val values = new StructType().add("v", StringType)
  private val toKey = UnsafeProjection.create(keys)
  private val toValue = UnsafeProjection.create(values)
  private val toPrefix = UnsafeProjection.create(new StructType().add("p", IntegerType))
  private val paged = classOf[PagedStateStoreProvider].getName

  private type Entries = Map[(Int, String), String]

  private def key(its: (Int, String)): UnsafeRow =
    toKey(InternalRow(its._1, UTF8String.fromString(its._2)))
  private def value(v: String): UnsafeRow = toValue(InternalRow(UTF8String.fromString(v)))

  private def shown(entries: Iterator[UnsafeRowPair]): Entries = entries.map { entry =>
    (entry.key.getInt(0), entry.key.getString(1)) -> entry.value.getString(0)
  }.toMap

  private def folder() = Files.createTempDirectory("firesteel-paged").toString

  private def provider(
      className: String,
      folder: String,
      encoder: KeyStateEncoderSpec = PrefixKeyScanStateEncoderSpec(keys, 1)): StateStoreProvider = {
    val _ = spark.streams
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, className)
    conf.setConf(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT, 3)
    conf.setConf(SQLConf.MIN_BATCHES_TO_RETAIN, 4)
    val hadoop = new Configuration
    hadoop.set("sql.streaming.runId", UUID.randomUUID().toString)
    StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(folder, 0, 0), UUID.randomUUID()),
      keys,
      values,
      encoder,
      useColumnFamilies = false,
      new StateStoreConf(conf),
      hadoop,
      useMultipleValuesPerKey = false,
      stateSchemaProvider = None
    )
  }

  private def filesOf(folder: String): Set[String] =
    Paths.get(folder, "0", "0").toFile.list().filterNot(_.startsWith(".")).toSet

  private def change(store: StateStore, model: mutable.Map[(Int, String), String], random: Random) =
    Range(0, random.nextInt(50)).foreach { _ =>
      val k = (random.nextInt(4), s"k${random.nextInt(40)}")
      if (random.nextInt(3) > 0) {
        val v = s"v${random.nextInt()}" * random.nextInt(4)
        store.put(key(k), value(v))
        model(k) = v
      } else {
        store.remove(key(k))
        model -= k
      }
    }

  test("each version is what Spark reads of the files; micro-batches fail, come again and are cleaned up") {
    Range(0, 2).foreach { seed =>
      val random = new Random(seed)
      val where = folder()
      var (ours, sparks) = (provider(paged, where), provider(hdfs, where))
      val versions = mutable.ArrayBuffer[Entries](Map.empty)
      var at = 0
      Range(0, 30).foreach { turn =>
        random.nextInt(6) match {
          case 0 => // the last micro-batch comes again
            at = math.max(0, versions.size - 2)
            versions.takeInPlace(at + 1)
          case 1 => // a task fails
            val store = ours.getStore(at.toLong, None)
            change(store, mutable.Map.from(versions(at)), random)
            store.abort()
          case 2 => // another executor goes on
            ours.close()
            ours = provider(if (random.nextBoolean()) paged else hdfs, where)
          case 3 => ours.doMaintenance()
          case _ => ()
        }
        val model = mutable.Map.from(versions(at))
        val store = ours.getStore(at.toLong, None)
        assert(shown(store.iterator()) == model.toMap, s"seed $seed, turn $turn")
        change(store, model, random)
        Range(0, 4).foreach { p =>
          assert(shown(store.prefixScan(toPrefix(InternalRow(p)))) == model.filter(_._1._1 == p))
        }
        model.foreach { case (k, v) => assert(store.get(key(k)).getString(0) == v) }
        assert(store.commit() == at + 1L && store.hasCommitted)
        assert(store.metrics.numKeys == model.size && store.metrics.memoryUsedBytes > 0L)
        at += 1
        versions += model.toMap
        sparks.close()
        sparks = provider(hdfs, where)
        Range(math.max(1, at - 3), at + 1).foreach { version =>
          val read = sparks.getReadStore(version.toLong, None)
          assert(shown(read.iterator()) == versions(version), s"seed $seed, turn $turn, $version")
          read.abort()
        }
      }
      assert(filesOf(where).exists(_.endsWith(".snapshot")), s"seed $seed: ${filesOf(where)}")
      Seq(ours, sparks).foreach(_.close())
    }
  }

  test("what a failed task still writes is in no later version") {
    val where = folder()
    val ours = provider(paged, where)
    val first = ours.getStore(0, None)
    first.put(key((1, "a")), value("a"))
    first.commit()
    val lost = ours.getStore(1, None)
    lost.put(key((1, "a")), value("lost"))
    // Another task asks for the version before this one has ended, as a second attempt does.
    val second = ours.getStore(1, None)
    lost.put(key((1, "b")), value("lost"))
    second.put(key((1, "c")), value("c"))
    second.commit()
    lost.abort()
    val read = ours.getStore(2, None)
    assert(shown(read.iterator()) == Map((1, "a") -> "a", (1, "c") -> "c"))
    read.abort()
    ours.close()
  }

  test("a version that is asked for twice begins twice from the same entries") {
    val where = folder()
    val ours = provider(paged, where, NoPrefixKeyStateEncoderSpec(keys))
    Range(0, 5).foreach { version =>
      Range(0, 3).foreach { again =>
        val store = ours.getStore(version.toLong, None)
        assert(shown(store.iterator()) == Range(0, version).map(i => (i, "k") -> "2").toMap)
        store.put(key((version, "k")), value(again.toString))
        if (again == 1) store.put(key((version, "other")), value("x"))
        store.commit()
      }
    }
    ours.close()
  }

  test("reading a micro-batch many times takes no more memory") {
    val ours = provider(paged, folder())
    def run(version: Long, from: Int) = {
      val store = ours.getStore(version, None)
      Range(from, from + 3000).foreach(i => store.put(key((i % 9, s"k$i")), value("v" * 100)))
      store.commit()
      store.metrics
    }
    run(0, 0)
    val all = Range(0, 20).map(_ => run(1, 3000))
    val used = all.map(_.memoryUsedBytes)
    assert(used.max < 1.2 * used.head, used)
    val counted = all.last.customMetrics.map { case (metric, count) => metric.name -> count }
    assert(counted("loadedMapCacheHitCount") == 20 && counted("loadedMapCacheMissCount") == 0)
    ours.close()
  }

  test("a store of an operator that has been renumbered writes no snapshot") {
    val root = folder()
    val where = s"$root/state"
    def filled() = {
      val store = provider(paged, where)
      Range(0, 6).foreach { at =>
        val version = store.getStore(at.toLong, None)
        version.put(key((0, "k")), value(s"$at"))
        version.commit()
      }
      store
    }
    def snapshots = filesOf(where).count(_.endsWith(".snapshot"))
    val stale = filled()
    new TextFile(
      CheckpointFileManager.create(new Path(root), new Configuration),
      PagedStateStoreProvider.editOf(new Path(root))).write("an edit")
    stale.doMaintenance()
    assert(snapshots == 0)
    filled().doMaintenance()
    assert(snapshots == 1)
  }

  test("a snapshot shows its version while later micro-batches run") {
    val where = folder()
    val ours = provider(paged, where)
    Range(0, 20).foreach { version =>
      val store = ours.getStore(version.toLong, None)
      Range(0, 100).foreach(i => store.put(key((i % 3, s"k$i")), value(s"$version-$i")))
      val writer = new Thread(() => ours.doMaintenance())
      writer.start()
      Range(0, 100).foreach(i => store.put(key((i % 3, s"k$i")), value(s"$version+$i")))
      writer.join()
      store.commit()
    }
    val snapshots = filesOf(where).filter(_.endsWith(".snapshot"))
    assert(snapshots.nonEmpty)
    snapshots.map(_.stripSuffix(".snapshot").toLong).foreach { version =>
      val read = provider(hdfs, where).getReadStore(version, None)
      val wanted = Range(0, 100).map(i => (i % 3, s"k$i") -> s"${version - 1}+$i").toMap
      assert(shown(read.iterator()) == wanted)
    }
    ours.close()
  }

  test("operators have it in the place of Spark's map, unless it is switched off") {
    val switch = ChangelogConf.PAGED_STATE.key
    val rocks = SQLConf.STATE_STORE_PROVIDER_CLASS.key -> rocksDb
    val cases = Seq(Nil -> true, Seq(switch -> "false") -> false, Seq(rocks) -> false)
    cases.foreach { case (settings, isPaged) =>
      withConf(settings: _*) {
        val rows = memoryStream[Int](spark)(Encoders.scalaInt)
        rows.addData(1, 2, 1)
        rows.toDF().createOrReplaceTempView("paged")
        var stores = Seq.empty[String]
        spark.sql(
          "SELECT *, row_kind() AS op FROM (SELECT value, count(*) FROM paged GROUP BY value)")
          .writeStream.option("checkpointLocation", folder()).trigger(Trigger.AvailableNow())
          .foreachBatch { (batch: DataFrame, _: Long) =>
            stores = lineage(executionOf(batch).toRdd).collect {
              case its if OwnStateStores.areOfStores(its) => its.getClass.getName
            }
            val _ = batch.collect()
          }.start().awaitTermination()
        assert(stores.size == 1 && stores.head.contains("OwnStateStores") == isPaged, settings)
      }
    }
  }

  private def lineage(rdd: RDD[_]): Seq[RDD[_]] =
    rdd +: rdd.dependencies.flatMap(d => lineage(d.rdd))

  test("what Spark's provider refuses is refused") {
    val ours = provider(paged, folder())
    Seq[() => Any](() => ours.getStore(-1, None), () => ours.getStore(3, None)).foreach { ask =>
      assert(intercept[Exception](ask()).getMessage.nonEmpty)
    }
    val store = ours.getStore(0, None)
    store.commit()
    intercept[Exception](store.put(key((1, "a")), value("late")))
    ours.close()
  }
}
