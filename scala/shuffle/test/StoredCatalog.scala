package io.firesteel.shuffle

import java.util.{OptionalLong, Set => JSet}
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{NoSuchFunctionException, NoSuchTableException}
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.connector.catalog.{Column, FunctionCatalog, Identifier, SupportsRead, Table, TableCapability, TableCatalog, TableChange}
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{Batch, HasPartitionKey, HasPartitionStatistics, InputPartition, PartitionReader, PartitionReaderFactory, Scan, ScanBuilder, Statistics, SupportsReportPartitioning, SupportsReportStatistics}
import org.apache.spark.sql.connector.read.partitioning.{KeyGroupedPartitioning, Partitioning}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.types.{DataType, IntegerType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Tables whose source reports their partitioning, as Iceberg's does. Each value has two parts. */
final class StoredCatalog extends TableCatalog with FunctionCatalog {

  override def name(): String = StoredCatalog.name
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()

  override def loadTable(table: Identifier): Table =
    Option(StoredCatalog.tables.get(table.name)).getOrElse(throw new NoSuchTableException(table))

  override def loadFunction(function: Identifier): UnboundFunction =
    function.name match {
      case "bucket" => Bucket
      case "named" => Named
      case _ => throw new NoSuchFunctionException(function)
    }

  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty
  override def listFunctions(namespace: Array[String]): Array[Identifier] = Array.empty
  override def dropTable(table: Identifier): Boolean = false
  override def renameTable(from: Identifier, to: Identifier): Unit = refused()
  override def alterTable(table: Identifier, changes: TableChange*): Table = refused()
  private def refused() =
    throw new UnsupportedOperationException("tables of tests stay as they are")
}

object StoredCatalog {
  val name: String = "stored"

  private val tables = new ConcurrentHashMap[String, Table]

  /** The settings that add the catalog to a session. */
  val settings: Map[String, String] =
    Map(s"spark.sql.catalog.$name" -> classOf[StoredCatalog].getName)

  /**
   * Stores rows as a table.
   *
   * @param transforms the functions whose values its rows are stored by
   * @param values the same as SQL over the columns; `bucket` by [[bucketOf]]
   * @param tellsSizes whether the source reports the size of each value
   * @param bytes the size that it reports for the table
   */
  def put(
      table: String,
      rows: DataFrame,
      transforms: Seq[Transform],
      values: Seq[String],
      tellsSizes: Boolean = true,
      bytes: Option[Long] = Some(1L << 30)): Unit = {
    val columns = rows.columns.toSeq
    rows.sparkSession.udf.register("stored_bucket", bucketOf _)
    val wide = executionOf(rows.selectExpr(values ++ columns.map(c => s"`$c`"): _*))
    val types = wide.analyzed.output.map(_.dataType).toArray
    val (keyTypes, rowTypes) = types.splitAt(values.size)
    val keyOf = UnsafeProjection.create(keyTypes)
    val halves = wide.toRdd.map(_.copy()).collect().toSeq
      .groupBy(row => keyOf(select(row, 0, keyTypes)).copy())
      .toSeq.map { case (key, ofKey) =>
        val project = UnsafeProjection.create(rowTypes)
        val kept = ofKey.map(row => project(select(row, values.size, rowTypes)).copy())
        val half = (kept.size + 1) / 2
        (key, kept.take(half), kept.drop(half))
      }
    // Not in the order of the values: a source may list its parts in any order.
    val parts = (halves.map(h => h._1 -> h._2) ++ halves.reverse.map(h => h._1 -> h._3)).collect {
      case (key, some) if some.nonEmpty => new StoredPart(key, some.toArray, tellsSizes)
    }
    tables.put(
      table,
      new StoredTable(
        table,
        rows.schema,
        transforms.toArray,
        parts.toArray[InputPartition],
        bytes.fold(OptionalLong.empty)(OptionalLong.of)))
    ()
  }

  def bucketOf(buckets: Int, value: java.lang.Long): java.lang.Integer =
    if (value == null) null else Math.floorMod(value.hashCode * 31, buckets)

  private def select(row: InternalRow, from: Int, types: Array[DataType]): InternalRow =
    InternalRow.fromSeq(types.toSeq.indices.map(i => row.get(from + i, types(i))))
}

final private class StoredPart(key: UnsafeRow, val rows: Array[UnsafeRow], tellsSizes: Boolean)
  extends HasPartitionKey
  with HasPartitionStatistics {
  override def partitionKey(): InternalRow = key
  override def numRows(): OptionalLong = OptionalLong.empty
  override def filesCount(): OptionalLong = OptionalLong.empty
  override def sizeInBytes(): OptionalLong =
    if (tellsSizes) OptionalLong.of(rows.map(_.getSizeInBytes.toLong).sum) else OptionalLong.empty
}

final private class StoredTable(
    override val name: String,
    rows: StructType,
    transforms: Array[Transform],
    parts: Array[InputPartition],
    bytes: OptionalLong)
  extends Table
  with SupportsRead
  with ScanBuilder
  with Scan
  with Batch
  with SupportsReportPartitioning
  with SupportsReportStatistics {
  override def schema(): StructType = rows // abstract in Spark 4.0
  override def columns(): Array[Column] =
    rows.fields.map(field => Column.create(field.name, field.dataType, field.nullable))
  override def capabilities(): JSet[TableCapability] = JSet.of(TableCapability.BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = this
  override def build(): Scan = this
  override def toBatch: Batch = this
  override def readSchema(): StructType = rows
  override def planInputPartitions(): Array[InputPartition] = parts
  override def createReaderFactory(): PartitionReaderFactory = StoredReaders
  override def estimateStatistics(): Statistics = new Statistics {
    override def sizeInBytes(): OptionalLong = bytes
    override def numRows(): OptionalLong = OptionalLong.empty
  }
  override def outputPartitioning(): Partitioning =
    new KeyGroupedPartitioning(
      transforms.map(t => t: org.apache.spark.sql.connector.expressions.Expression),
      parts.length)
}

private object StoredReaders extends PartitionReaderFactory {
  override def createReader(part: InputPartition): PartitionReader[InternalRow] =
    new PartitionReader[InternalRow] {
      private val rows = part.asInstanceOf[StoredPart].rows.iterator
      private var row: InternalRow = _
      override def next(): Boolean = {
        val more = rows.hasNext
        if (more) row = rows.next()
        more
      }
      override def get(): InternalRow = row
      override def close(): Unit = ()
    }
}

/** A function that is known by name only; some sources report such functions. */
private object Named extends UnboundFunction {
  override def name(): String = "named"
  override def description(): String = "named(column)"
  override def bind(input: StructType): BoundFunction = new BoundFunction {
    override def name(): String = "named"
    override def canonicalName(): String = "firesteel.test.named"
    override def inputTypes(): Array[DataType] = Array(input.fields(0).dataType)
    override def resultType(): DataType = IntegerType
  }
}

private object Bucket extends UnboundFunction {
  override def name(): String = "bucket"
  override def description(): String = "bucket(n, column)"
  override def bind(input: StructType): BoundFunction = new ScalarFunction[Integer] {
    override def name(): String = "bucket"
    override def canonicalName(): String = "firesteel.test.bucket"
    private val of = input.fields(1).dataType
    override def inputTypes(): Array[DataType] = Array(IntegerType, of)
    override def resultType(): DataType = IntegerType
    override def produceResult(row: InternalRow): Integer =
      if (row.isNullAt(1)) null
      else {
        val number = if (of == IntegerType) row.getInt(1).toLong else row.getLong(1)
        StoredCatalog.bucketOf(row.getInt(0), number)
      }
  }
}
