package io.firesteel.lookup.testing

import io.firesteel.lookup._
import io.firesteel.testkit.TimedSuite
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{Column, TableCapability}
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.Assertion

/** The check passes a right connector, and names the fault of each wrong one. */
class ConnectorCheckSuite extends TimedSuite {

  private def check(connector: Shops): Unit =
    ConnectorCheck
      .of(connector)
      .rows(Row(1, "a", "bread"), Row(1, "b", null), Row(1, "b", "salt"), Row(2, "a", "salt"))
      .check()

  private def assertFault(fault: String, text: String): Assertion = {
    val thrown = intercept[AssertionError](check(new Shops(fault)))
    assert(thrown.getMessage.startsWith("The lookup connector shops: "), thrown)
    assert(thrown.getMessage.contains(text), thrown)
  }

  test("a right connector passes") {
    check(new Shops(""))
    check(new Shops("async"))
    check(new Shops("both"))
    check(new Shops("filters"))
    check(new Shops("reused row"))
    check(new Shops("small calls"))
  }

  Seq(
    "misses a key" -> "did not answer the row [2,a,salt]",
    "one row a key" -> "did not answer the row [1,b,salt]",
    "repeats rows" -> "answered the row [1,a,bread] more often than the store holds it",
    "invents rows" -> "answered the row [1000001,missing 1,new], which is not among the rows given",
    "other keys" -> "whose key was not asked",
    "text as String" -> "a row has kind as java.lang.String. InternalRow holds STRING as",
    "all columns" -> "a row has 3 columns. It must have those of LookupContext.columns",
    "null in a key" -> "a row has null in id, which is not nullable",
    "null answer" -> "lookup returned null",
    "only single keys" -> "lookup by id, kind of 4 keys threw java.lang.IllegalStateException: one at a time",
    "filters too much" -> "did not answer the row [1,b,salt]",
    "not serializable" -> "Java serialization of the function of newLookup",
    "shared" -> "lookup of a function that stays open while another one is closed, of 4 keys threw",
    "close throws" -> "close() threw java.lang.IllegalStateException: closed",
    "close without open" -> "close() without open(), as after a failed open(), threw",
    "leaves a thread" -> "close() leaves the thread of shops running",
    "unknown key" -> "lookupKeys(id, kind, name) returned nothing like it, which is not one of these",
    "no key" -> "lookupKeys(id, kind, name) returned no column",
    "no keys a call" -> "maxBatchKeys is 0",
    "out of range" -> "the partition 1. It must be from 0 to 0",
    "negative" -> "the partition -1. It must be from 0 to 0",
    "inconsistent" -> "Compute the number from the values of the key alone",
    "by identity" -> "Compute the number from the values of the key alone",
    "partition key" -> "partitionKeys() returned name, which is no key",
    "wrong shard" -> "did not answer the row",
    "future fails" -> "the future of lookupAsync by id, kind threw",
    "null future" -> "lookupAsync returned null instead of a future"
  ).foreach { case (fault, text) =>
    test(s"a connector with the fault '$fault' is found") {
      assertFault(fault, text)
    }
  }

  test("rows of another width are the caller's mistake") {
    val thrown = intercept[AssertionError](
      ConnectorCheck.of(new Shops("")).rows(Row(1)).check())
    assert(thrown.getMessage.contains("the row [1] has 1 columns and the table has 3"))
  }
}

object Shops {
  val rows: Seq[Seq[Any]] =
    Seq(Seq(1, "a", "bread"), Seq(1, "b", null), Seq(1, "b", "salt"), Seq(2, "a", "salt"))
  val open = new AtomicInteger
}

/** Goods of shops, by number of the shop and kind; `fault` names the connector's fault. */
class Shops(fault: String) extends SupportsLookup with SupportsLookupCustomShuffle {
  override def name(): String = "shops"
  override def schema(): StructType =
    StructType.fromDDL("id INT NOT NULL, kind STRING, name STRING")
  override def columns(): Array[Column] = Array(
    Column.create("id", IntegerType, false),
    Column.create("kind", StringType),
    Column.create("name", StringType))
  override def capabilities(): java.util.Set[TableCapability] = java.util.Set.of()

  override def lookupKeys(candidates: Array[String]): Array[String] = fault match {
    case "unknown key" => Array("nothing like it")
    case "no key" => Array.empty
    case _ => candidates.filter(_ != "name")
  }

  override def partitionKeys(): Array[String] =
    if (fault == "partition key") Array("name") else Array("id")

  override def getPartitioner(): Optional[InputDataPartitioner] = Optional.of(new ById(fault))

  override def newLookup(context: LookupContext): LookupFunction = {
    val reader = new ShopReader(
      fault,
      context.keys,
      context.columns,
      context.filters.map(_.toString).headOption.getOrElse(""),
      context.customShuffle)
    fault match {
      case "async" | "future fails" | "null future" => new AsyncShops(reader)
      case "both" => new BothShops(reader)
      case _ => new SyncShops(reader)
    }
  }
}

object ById {
  private val instances = new AtomicInteger
}

class ById(fault: String) extends InputDataPartitioner {
  @transient private lazy val identity = ById.instances.incrementAndGet()
  private var calls = 0

  override def partition(joinKeys: InternalRow, numPartitions: Int): Int = {
    calls += 1
    fault match {
      case "out of range" => numPartitions
      case "negative" => -1
      case "inconsistent" => calls % numPartitions
      case "by identity" => identity % numPartitions
      case _ => joinKeys.getInt(0) % numPartitions
    }
  }
}

class ShopReader(
    val fault: String,
    keys: StructType,
    columns: StructType,
    filter: String,
    customShuffle: Boolean)
  extends Serializable {
  private val connection = if (fault == "not serializable") new Object else null
  @transient private var opened = false
  @transient private var task: TaskInfo = _

  def open(of: TaskInfo): Unit = {
    opened = true
    task = of
    val _ = Shops.open.set(1)
    if (fault == "leaves a thread") {
      val thread = new Thread(() => Thread.sleep(5000), "of shops")
      thread.start()
    }
  }

  def close(): Unit = {
    if (fault == "close throws" && opened) throw new IllegalStateException("closed")
    if (fault == "close without open" && !opened) throw new IllegalStateException("not open")
    Shops.open.set(0)
  }

  def read(asked: Seq[InternalRow]): Iterator[InternalRow] = {
    if (connection != null) throw new IllegalStateException("never there")
    if (fault == "only single keys" && asked.size > 1) {
      throw new IllegalStateException("one at a time")
    }
    if (fault == "small calls" && asked.size > 2) throw new IllegalStateException("too many")
    if (fault == "shared" && Shops.open.get == 0) throw new IllegalStateException("closed")
    val wanted = asked.map(key =>
      keys.fields.indices.map(i => key.get(i, keys(i).dataType)).map {
        case text: UTF8String => text.toString
        case other => other
      }).distinct
    val all = Seq("id", "kind", "name")
    val places = keys.fieldNames.toSeq.map(all.indexOf)
    val found = Shops.rows.filter(row => wanted.contains(places.map(row)))
    val rows = fault match {
      case "misses a key" => found.filterNot(_.head == 2)
      case "one row a key" => found.distinctBy(row => places.map(row))
      case "repeats rows" => found ++ found
      case "invents rows" => found ++ wanted.collect { case Seq(1000001, kind) =>
          Seq[Any](1000001, kind, "new")
        }
      case "other keys" => Shops.rows :+ Seq[Any](77, "z", "z")
      case "filters too much" if filter.startsWith("NOT") || filter.contains("<>") => Nil
      case "filters" if filter.startsWith("name = ") => found.filter(_(2) == "bread")
      case "wrong shard" if customShuffle => found.filter(_ => task.index != 0)
      case _ => found
    }
    val result = if (fault == "all columns") all else columns.fieldNames.toSeq
    val answers = rows.map(row => result.map(column => held(row(all.indexOf(column)))))
      .map(values => if (fault == "null in a key") null +: values.tail else values)
    if (fault == "reused row") {
      val reused = new org.apache.spark.sql.catalyst.expressions.GenericInternalRow(result.size)
      answers.iterator.map { values =>
        values.zipWithIndex.foreach { case (value, i) => reused.update(i, value) }
        reused
      }
    } else answers.iterator.map(InternalRow.fromSeq)
  }

  private def held(value: Any): Any = value match {
    case text: String if fault != "text as String" => UTF8String.fromString(text)
    case other => other
  }
}

class SyncShops(reader: ShopReader) extends SyncLookupFunction {
  override def open(task: TaskInfo): Unit = reader.open(task)
  override def close(): Unit = reader.close()
  override def maxBatchKeys: Int = reader.fault match {
    case "no keys a call" => 0
    case "small calls" => 2
    case _ => 100
  }
  override def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow] =
    if (reader.fault == "null answer") null else reader.read(keys.asScala.toSeq).asJava
}

class AsyncShops(reader: ShopReader) extends AsyncLookupFunction {
  override def open(task: TaskInfo): Unit = reader.open(task)
  override def close(): Unit = reader.close()
  override def lookupAsync(
      keys: java.util.List[InternalRow]): CompletableFuture[java.util.List[InternalRow]] =
    reader.fault match {
      case "null future" => null
      case "future fails" => CompletableFuture.failedFuture(new IllegalStateException("failed"))
      case _ => CompletableFuture.completedFuture(reader.read(keys.asScala.toSeq).toSeq.asJava)
    }
}

class BothShops(reader: ShopReader) extends SyncLookupFunction with AsyncLookupFunction {
  override def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow] =
    reader.read(keys.asScala.toSeq).asJava
  override def lookupAsync(
      keys: java.util.List[InternalRow]): CompletableFuture[java.util.List[InternalRow]] =
    CompletableFuture.completedFuture(reader.read(keys.asScala.toSeq).toSeq.asJava)
}
