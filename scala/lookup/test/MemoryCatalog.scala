package io.firesteel.lookup

import java.util.concurrent.{CompletableFuture, ConcurrentHashMap, ConcurrentLinkedQueue, Executors}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCapability, TableChange}
import org.apache.spark.sql.firesteel.ReadOnlyCatalog
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The behaviour of a test's store. */
final case class StoreBehaviour(
    async: Boolean = false,
    delayMillis: Long = 0,
    failures: Int = 0,
    otherKeys: Boolean = false,
    hangs: Boolean = false,
    maxBatch: Int = Int.MaxValue,
    missesFirst: Int = 0,
    columnsMissing: Boolean = false,
    only: Option[Set[String]] = None,
    throwsIn: String = "")

/** A store in this process: the rows of a table, and a record of what was asked. */
final class MemoryStore(
    val name: String,
    val schema: StructType,
    val rows: Seq[InternalRow],
    val behaviour: StoreBehaviour,
    val options: Map[String, String]) {
  val asked = new ConcurrentLinkedQueue[Seq[String]]
  val opened = new ConcurrentLinkedQueue[TaskInfo]
  val closed = new AtomicInteger
  val contexts = new ConcurrentLinkedQueue[LookupContext]
  val failed = new AtomicInteger
  val questions = new ConcurrentHashMap[String, Integer]

  /** Throws in the method that the test names. */
  def in[T](method: String)(result: => T): T =
    if (behaviour.throwsIn == method) throw new IllegalStateException(s"no $method today")
    else result

  def requests: Int = asked.size
  def keysAsked: Seq[String] = asked.asScala.toSeq.flatten
}

object MemoryStores {
  private val stores = new ConcurrentHashMap[String, MemoryStore]
  private val partitioners = new ConcurrentHashMap[String, InputDataPartitioner]

  def put(store: MemoryStore, partitioner: Option[InputDataPartitioner] = None): MemoryStore = {
    stores.put(store.name, store)
    partitioner.fold(partitioners.remove(store.name))(partitioners.put(store.name, _))
    store
  }
  def get(name: String): Option[MemoryStore] = Option(stores.get(name))
  def partitionerOf(name: String): Option[InputDataPartitioner] = Option(partitioners.get(name))
}

/** `mem.<name>`: tables that can be looked up and not scanned. */
final class MemoryCatalog extends ReadOnlyCatalog {
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()
  override def name(): String = "mem"
  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty
  override def loadTable(ident: Identifier): Table =
    MemoryStores.get(ident.name).fold(throw new NoSuchTableException(ident)) { store =>
      if (MemoryStores.partitionerOf(store.name).isDefined) new ShardedMemoryTable(store)
      else new MemoryTable(store)
    }
  override def alterTable(ident: Identifier, changes: TableChange*): Table =
    throw new UnsupportedOperationException
  override def dropTable(ident: Identifier): Boolean = false
  override def renameTable(from: Identifier, to: Identifier): Unit =
    throw new UnsupportedOperationException
}

class MemoryTable(store: MemoryStore) extends SupportsLookup {
  override def name(): String = store.name
  override def schema(): StructType = store.schema
  override def properties(): java.util.Map[String, String] = store.options.asJava
  override def capabilities(): java.util.Set[TableCapability] =
    java.util.Collections.emptySet[TableCapability]

  override def lookupKeys(candidates: Array[String]): Array[String] =
    store.in("lookupKeys")(
      store.behaviour.only.fold(candidates)(only => candidates.filter(only)))

  override def newLookup(context: LookupContext): LookupFunction = {
    store.in("newLookup")(store.contexts.add(context))
    val reader = new MemoryReader(store.name, context.keys, context.columns)
    if (store.behaviour.async) new MemoryAsyncLookup(reader, store.behaviour.maxBatch)
    else new MemoryLookup(reader, store.behaviour.maxBatch)
  }
}

final class ShardedMemoryTable(store: MemoryStore)
  extends MemoryTable(store)
  with SupportsLookupCustomShuffle {
  override def partitionKeys(): Array[String] = store.in("partitionKeys")(Array.empty[String])
  override def getPartitioner(): java.util.Optional[InputDataPartitioner] =
    store.in("getPartitioner")(java.util.Optional.of(MemoryStores.partitionerOf(store.name).get))
}

/** Finds rows by a plain pass over the table, very different from the engine's way. */
final class MemoryReader(name: String, keys: StructType, columns: StructType)
  extends Serializable {

  def store: MemoryStore = MemoryStores.get(name).get

  def read(wanted: java.util.List[InternalRow]): Seq[InternalRow] = {
    val behaviour = store.behaviour
    val texts = wanted.asScala.map(textOf(_, keys)).toSeq
    store.asked.add(texts)
    if (behaviour.hangs) Thread.sleep(600000)
    if (behaviour.delayMillis > 0) Thread.sleep(behaviour.delayMillis)
    if (store.failed.getAndIncrement() < behaviour.failures) {
      throw new java.io.IOException("the store is on fire")
    }
    val asked = texts.filter { text =>
      store.questions.merge(text, 1, (a: Integer, b: Integer) => a + b) > behaviour.missesFirst
    }.toSet
    val keyOf = projection(keys)
    val columnsOf = projection(columns)
    store.rows
      .filter(row => behaviour.otherKeys || asked.contains(textOf(keyOf(row), keys)))
      .map { row =>
        val answer = columnsOf(row).copy()
        if (behaviour.columnsMissing) InternalRow(answer.get(0, columns(0).dataType)) else answer
      }
  }

  private def projection(of: StructType): UnsafeProjection = {
    val schema = store.schema
    UnsafeProjection.create(of.fields.toSeq.map { field =>
      val i = schema.fieldIndex(field.name)
      BoundReference(i, schema(i).dataType, nullable = true)
    })
  }

  private def textOf(row: InternalRow, schema: StructType): String =
    schema.fields.indices
      .map(i => row.get(i, schema(i).dataType))
      .map {
        case array: Array[Byte] => array.mkString(",")
        case zero: Double if zero == 0.0 => "0.0" // a database takes both zeros for equal
        case other => String.valueOf(other)
      }
      .mkString("|")
}

final class MemoryLookup(reader: MemoryReader, override val maxBatchKeys: Int)
  extends SyncLookupFunction {
  override def open(task: TaskInfo): Unit =
    reader.store.in("open") { val _ = reader.store.opened.add(task) }
  override def close(): Unit =
    reader.store.in("close") { val _ = reader.store.closed.incrementAndGet() }
  override def mayAnswerOtherKeys: Boolean = false

  /** One reused row for all answers, as the interface allows. */
  override def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow] = {
    var reused = new UnsafeRow(0)
    reader.read(keys).iterator.map {
      case row: UnsafeRow =>
        if (reused.numFields != row.numFields) reused = new UnsafeRow(row.numFields)
        reused.pointTo(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
        reused: InternalRow
      case other => other
    }.asJava
  }
}

final class MemoryAsyncLookup(reader: MemoryReader, override val maxBatchKeys: Int)
  extends AsyncLookupFunction {
  override def open(task: TaskInfo): Unit =
    reader.store.in("open") { val _ = reader.store.opened.add(task) }
  override def close(): Unit =
    reader.store.in("close") { val _ = reader.store.closed.incrementAndGet() }
  override def lookupAsync(
      keys: java.util.List[InternalRow]): CompletableFuture[java.util.List[InternalRow]] =
    CompletableFuture.supplyAsync(() => reader.read(keys).asJava, MemoryAsyncLookup.threads)
}

object MemoryAsyncLookup {
  private val threads = Executors.newCachedThreadPool { task =>
    val thread = new Thread(task)
    thread.setDaemon(true)
    // Not the loader of the first task: its session may be stopped while another uses the thread.
    thread.setContextClassLoader(getClass.getClassLoader)
    thread
  }
}
