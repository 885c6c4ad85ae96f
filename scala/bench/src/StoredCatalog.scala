package io.firesteel.bench

import java.util.{OptionalLong, Set => JavaSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{NoSuchFunctionException, NoSuchTableException}
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier, SupportsRead, Table, TableCapability, TableChange}
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.connector.expressions.{Expression, Expressions}
import org.apache.spark.sql.connector.read.{Batch, HasPartitionKey, HasPartitionStatistics, InputPartition, PartitionReader, PartitionReaderFactory, Scan, ScanBuilder, Statistics, SupportsReportPartitioning, SupportsReportStatistics}
import org.apache.spark.sql.connector.read.partitioning.{KeyGroupedPartitioning, Partitioning}
import org.apache.spark.sql.firesteel.ReadOnlyCatalog
import org.apache.spark.sql.types.{DataType, IntegerType, LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * The catalog `stored`, whose tables report their partitioning: `stored.rows_N` has N rows in
 * buckets by `a`. Rows are made while they are read, which costs nearly nothing, so the clock times
 * the join.
 */
final class StoredCatalog extends ReadOnlyCatalog with FunctionCatalog {

  private var catalogName = ""

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit =
    catalogName = name

  override def name(): String = catalogName

  override def loadTable(ident: Identifier): Table = ident.name match {
    case s"rows_$rows" if rows.toLongOption.isDefined => new StoredTable(rows.toLong)
    case _ => throw new NoSuchTableException(ident)
  }

  override def loadFunction(ident: Identifier): UnboundFunction =
    if (ident.name == "bucket") BucketOf else throw new NoSuchFunctionException(ident)

  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty
  override def listFunctions(namespace: Array[String]): Array[Identifier] = Array.empty
  override def alterTable(ident: Identifier, changes: TableChange*): Table = refuse()
  override def dropTable(ident: Identifier): Boolean = refuse()
  override def renameTable(from: Identifier, to: Identifier): Unit = refuse()

  private def refuse(): Nothing = throw new UnsupportedOperationException("read only")
}

object StoredCatalog {
  val name: String = "stored"

  val buckets: Int = 16

  /** Values of `a`; each has ten of `b`. */
  val keys: Long = 250000L

  /** Bytes of a row of three numbers in Spark. */
  val rowBytes: Long = 32

  /** Numbers that look random and are the same in every run. */
  def mixed(number: Long): Long = {
    val once = (number + 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L
    (once ^ (once >>> 31)) * 0x94d049bb133111ebL >>> 1
  }
}

private final class StoredTable(rows: Long)
  extends Table
  with SupportsRead
  with ScanBuilder
  with Scan
  with Batch
  with SupportsReportPartitioning
  with SupportsReportStatistics {
  import StoredCatalog._

  override val name: String = s"rows_$rows"

  override def schema(): StructType =
    Seq("a", "b", "v").foldLeft(new StructType())(_.add(_, LongType, nullable = false))

  override def capabilities(): JavaSet[TableCapability] = JavaSet.of(TableCapability.BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = this
  override def build(): Scan = this
  override def readSchema(): StructType = schema()
  override def toBatch: Batch = this
  override def createReaderFactory(): PartitionReaderFactory = StoredReaders

  override def planInputPartitions(): Array[InputPartition] =
    Array.tabulate(buckets)(StoredBucket(_, rows / buckets))

  override def outputPartitioning(): Partitioning =
    new KeyGroupedPartitioning(Array[Expression](Expressions.bucket(buckets, "a")), buckets)

  override def estimateStatistics(): Statistics = new Statistics {
    override def sizeInBytes(): OptionalLong = OptionalLong.of(rows * rowBytes)
    override def numRows(): OptionalLong = OptionalLong.of(rows)
  }
}

private final case class StoredBucket(bucket: Int, rows: Long)
  extends InputPartition
  with HasPartitionKey
  with HasPartitionStatistics {
  override def partitionKey(): InternalRow = InternalRow(bucket)
  override def numRows(): OptionalLong = OptionalLong.of(rows)
  override def filesCount(): OptionalLong = OptionalLong.empty
  override def sizeInBytes(): OptionalLong = OptionalLong.of(rows * StoredCatalog.rowBytes)
}

private object StoredReaders extends PartitionReaderFactory {
  override def createReader(part: InputPartition): PartitionReader[InternalRow] =
    new StoredReader(part.asInstanceOf[StoredBucket])
}

private final class StoredReader(part: StoredBucket) extends PartitionReader[InternalRow] {
  import StoredCatalog._

  private val writer = new UnsafeRowWriter(3)
  private var read = 0L

  override def next(): Boolean = {
    read += 1
    read <= part.rows
  }

  override def get(): InternalRow = {
    val number = mixed(read * buckets + part.bucket)
    writer.reset()
    writer.write(0, number % (keys / buckets) * buckets + part.bucket)
    writer.write(1, mixed(number) % 10)
    writer.write(2, mixed(number + 1) % 1000)
    writer.getRow
  }

  override def close(): Unit = ()
}

private object BucketOf extends UnboundFunction {
  override def name(): String = "bucket"
  override def description(): String = "bucket(number, column): the column modulo the number"

  override def bind(input: StructType): BoundFunction = new ScalarFunction[Integer] {
    override def name(): String = "bucket"
    override def canonicalName(): String = "io.firesteel.bench.bucket"
    override def inputTypes(): Array[DataType] = Array(IntegerType, LongType)
    override def resultType(): DataType = IntegerType
    override def produceResult(row: InternalRow): Integer =
      Math.floorMod(row.getLong(1), row.getInt(0))
  }
}
