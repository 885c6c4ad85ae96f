package io.firesteel.changelog.store

import java.util.concurrent.atomic.{AtomicReference, LongAdder}

import io.firesteel.changelog.common.TextFile

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{KeyStateEncoderSpec, PrefixKeyScanStateEncoderSpec, StateSchemaProvider, StateStoreConf, StateStoreId, UnsafeRowPair}
import org.apache.spark.sql.firesteel.{OwnRowsProvider, OwnStateRows}
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager
import org.apache.spark.sql.types.StructType

/**
 * State in memory as [[PagedRows]], with the files of Spark's `HDFSBackedStateStoreProvider`: either
 * provider goes on where the other has ended. A micro-batch costs what it changes, where Spark's
 * provider first copies the map of all entries. Files, snapshots, metrics and errors are Spark's code.
 *
 * The entries belong to one task at a time. Its commit gives them back, with what they were before:
 * a micro-batch that runs again begins there. A task that fails never gives them back, because what
 * it left behind may still write; then, and when two tasks ask for one version, what a task began with
 * is copied. Other versions are read from the files.
 */
final private[changelog] class PagedStateStoreProvider extends OwnRowsProvider {
  import PagedStateStoreProvider._

  @volatile private var begun: Begun = _
  @volatile private var editedBy: Option[String] = None
  private val held = new AtomicReference[Held]
  @volatile private var lent: Lent = _
  private val (hits, misses) = (new LongAdder, new LongAdder)

  override def init(
      id: StateStoreId,
      key: StructType,
      value: StructType,
      encoder: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      conf: StateStoreConf,
      hadoop: Configuration,
      useMultipleValuesPerKey: Boolean,
      schemas: Option[StateSchemaProvider]): Unit = {
    super.init(
      id,
      key,
      value,
      encoder,
      useColumnFamilies,
      conf,
      hadoop,
      useMultipleValuesPerKey,
      schemas)
    begun = Begun(id, key, value, encoder, conf, hadoop)
    editedBy = readEdit
  }

  /**
   * Spark keeps the stores of a query that has stopped for a while. If the folder has become that of
   * another operator meanwhile, a snapshot of this one's rows must not come there.
   */
  override def doMaintenance(): Unit =
    if (Try(readEdit).toOption.contains(editedBy)) super.doMaintenance()

  private def readEdit: Option[String] =
    Option(new Path(begun.id.checkpointRootLocation).getParent).flatMap { checkpoint =>
      val file = editOf(checkpoint)
      new TextFile(CheckpointFileManager.create(file.getParent, begun.hadoop), file).read()
    }

  override protected def openedRows(version: Long): OwnStateRows = {
    val (its, known) = (held.getAndSet(null), lent)
    val rows =
      if (version == 0) begun.empty
      else if (its != null && its.version == version) hit(its.tidy())
      else if (its != null && its.version == version + 1) hit(its.restored())
      else if (known != null && known.version == version) hit(begun.filled(known.rows))
      else {
        misses.increment()
        read(version)
      }
    val open = new Open(rows)
    if (keepsVersions) lent = new Lent(version, open.begins)
    open
  }

  override protected def committed(rows: OwnStateRows, version: Long): Unit = rows match {
    case its: Open =>
      val now = its.heldAs(version)
      if (keepsVersions) held.set(now)
    case other => throw new IllegalStateException(s"unknown rows $other")
  }

  private def keepsVersions: Boolean = begun.conf.maxVersionsToRetainInMemory > 0

  private def hit(rows: PagedRows): PagedRows = {
    hits.increment()
    rows
  }

  /** Those of Spark's provider, by its names. */
  override def getMetricsForProvider(): Map[String, Long] = {
    val its = held.get
    super.getMetricsForProvider() ++ Map(
      "memoryUsedBytes" -> (if (its == null) 0L else its.bytes),
      "loadedMapCacheHitCount" -> hits.sum,
      "loadedMapCacheMissCount" -> misses.sum)
  }

  /** Entries from the files. What is odd in them is left to Spark, which has the errors and repairs. */
  private def read(version: Long): PagedRows =
    try fromFiles(version)
    catch {
      case odd @ (NonFatal(_) | _: OutOfMemoryError) =>
        logWarning(s"Cannot read version $version of ${begun.id}: ${odd.getMessage}")
        bySpark(version)
    }

  /** Spark keeps its map of them until the next commit. */
  private def bySpark(version: Long): PagedRows = {
    val rows = begun.empty
    getReadStore(version, None).iterator().foreach(entry => rows.put(entry.key, entry.value))
    rows
  }

  private def fromFiles(version: Long): PagedRows = {
    val folder = begun.id.storeCheckpointLocation()
    val snapshot = namesIn(folder, begun.hadoop).flatMap(SnapshotName.unapply)
      .filter(_ <= version).maxOption.getOrElse(0L)
    val rows = begun.empty
    var isChecked = false
    def add(name: String): Unit = {
      val in = opened(new Path(folder, name), begun.conf, begun.hadoop)
      try StateFile.read(in, begun.key.length, begun.value.length) { (key, value) =>
          if (value == null) { val _ = rows.remove(key) }
          else {
            if (!isChecked) check(begun.id, begun.conf, key -> begun.key, value -> begun.value)
            isChecked = true
            rows.put(key, value)
          }
        }
      finally in.close()
    }
    if (snapshot > 0) add(s"$snapshot.snapshot")
    (snapshot + 1 to version).foreach(delta => add(s"$delta.delta"))
    report(snapshot, begun.id, begun.conf, begun.hadoop)
    rows
  }

  override def close(): Unit = {
    held.set(null)
    lent = null
    super.close()
  }
}

private[changelog] object PagedStateStoreProvider {

  /** The file of a checkpoint with the name of the last edit of a statement set, if there was one. */
  def editOf(checkpoint: Path): Path = new Path(checkpoint, "statements/edited")

  private object SnapshotName {
    def unapply(file: String): Option[Long] =
      if (file.endsWith(".snapshot")) file.stripSuffix(".snapshot").toLongOption else None
  }

  /**
   * The entries of the last version.
   *
   * @param shown the same entries as Spark has them, to write a snapshot
   * @param before those of the version before it
   */
  final private class Held(
      val version: Long,
      rows: PagedRows,
      shown: Open,
      before: PagedRows.Frozen) {

    /** The entries without what is gone, which then leaves memory. */
    def tidy(): PagedRows = {
      val copy = rows.tidy()
      if (copy ne rows) shown.show(copy.frozen())
      copy
    }

    def bytes: Long = rows.bytes

    /** The entries of the version before. */
    def restored(): PagedRows = {
      rows.restore(before)
      rows
    }
  }

  /** What a task began with; it never changes. */
  final private class Lent(val version: Long, val rows: PagedRows.Frozen)

  /** What the provider was made with. */
  final private case class Begun(
      id: StateStoreId,
      key: StructType,
      value: StructType,
      encoder: KeyStateEncoderSpec,
      conf: StateStoreConf,
      hadoop: Configuration) {

    def empty: PagedRows = new PagedRows(
      key,
      value,
      encoder match {
        case its: PrefixKeyScanStateEncoderSpec => its.numColsPrefixKey
        case _ => 0
      })

    def filled(frozen: PagedRows.Frozen): PagedRows = {
      val rows = empty
      rows.fill(frozen)
      rows
    }
  }

  /** The entries as the store of one task has them; when they are frozen, only as they are then. */
  final private class Open(all: PagedRows) extends OwnStateRows {
    private[this] var rows = all
    private[this] var before = all.frozen()
    @volatile private[this] var after: PagedRows.Frozen = _

    /** The entries at the beginning. */
    def begins: PagedRows.Frozen = before

    def heldAs(version: Long): Held = {
      val its = new Held(version, rows, this, before)
      rows = null
      before = null
      its
    }

    override def freeze(): Unit = if (rows != null) show(rows.frozen())

    /** What it shows from now on. */
    def show(frozen: PagedRows.Frozen): Unit = after = frozen

    override def get(key: UnsafeRow): UnsafeRow = rows.get(key)
    override protected def write(key: UnsafeRow, value: UnsafeRow): Unit = rows.put(key, value)
    override protected def erase(key: UnsafeRow): Boolean = rows.remove(key)
    override def prefixScan(prefix: UnsafeRow): Iterator[UnsafeRowPair] = rows.withPrefix(prefix)
    override def size(): Int = if (after == null) rows.size else after.size
    override def iterator(): Iterator[UnsafeRowPair] = if (after == null) rows.all else after.all
  }
}
