package io.firesteel.lookup.examples

import java.nio.file.{Files, Path}
import java.util.Optional

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.firesteel.lookup.{InputDataPartitioner, LookupContext, LookupFunction, SupportsLookup, SupportsLookupCustomShuffle, SyncLookupFunction, TaskInfo}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.connector.catalog.{Column, Identifier, Table, TableCapability, TableCatalog, TableChange}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/**
 * A catalog with one table, `countries`, that can be looked up by `code`.
 *
 * {{{
 * spark.sql.catalog.atlas=io.firesteel.lookup.examples.ScalaCountriesCatalog
 * spark.sql.catalog.atlas.path=a file with lines such as: ch,Switzerland,Europe
 * }}}
 */
class ScalaCountriesCatalog extends TableCatalog {
  private var catalog: String = _
  private var path: String = _

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    catalog = name
    path = options.get("path")
  }

  override def name(): String = catalog

  override def loadTable(ident: Identifier): Table =
    if (ident.name == "countries") new ScalaCountries(path)
    else throw new NoSuchTableException(ident)

  override def listTables(namespace: Array[String]): Array[Identifier] =
    Array(Identifier.of(namespace, "countries"))
  override def alterTable(ident: Identifier, changes: TableChange*): Table = readOnly()
  override def dropTable(ident: Identifier): Boolean = readOnly()
  override def renameTable(from: Identifier, to: Identifier): Unit = readOnly()
  private def readOnly(): Nothing =
    throw new UnsupportedOperationException(s"$catalog is read only")
}

/** Countries by code. They cannot be scanned, hence no capabilities. */
class ScalaCountries(path: String) extends SupportsLookup with SupportsLookupCustomShuffle {

  override def name(): String = "countries"

  /** Only Spark 4.0 asks for it; later versions take the columns. */
  override def schema(): StructType = StructType.fromDDL(
    "code STRING, country STRING, continent STRING")

  override def columns(): Array[Column] =
    Array("code", "country", "continent").map(Column.create(_, StringType))

  override def capabilities(): java.util.Set[TableCapability] = java.util.Set.of()

  /** The file is not ordered by continent, so the join compares the continent after the lookup. */
  override def lookupKeys(candidates: Array[String]): Array[String] = candidates.filter(_ == "code")

  override def getPartitioner(): Optional[InputDataPartitioner] = Optional.of(ByCode)

  override def newLookup(context: LookupContext): LookupFunction =
    new ScalaCountriesLookup(path, context.columns.fieldNames, context.customShuffle)
}

/** By the bytes of the code, which are the same in every JVM. */
object ByCode extends InputDataPartitioner {

  override def partition(joinKeys: InternalRow, numPartitions: Int): Int =
    of(joinKeys.getUTF8String(0), numPartitions)

  def of(code: UTF8String, numPartitions: Int): Int = Math.floorMod(code.hashCode, numPartitions)
}

/**
 * Holds the countries that its task can be asked for: its share if the partitioner is applied, and
 * otherwise all, because any task can then be asked any key.
 */
class ScalaCountriesLookup(path: String, wanted: Array[String], customShuffle: Boolean)
  extends SyncLookupFunction {

  @transient private var found: mutable.Map[UTF8String, InternalRow] = _

  override def open(task: TaskInfo): Unit = {
    def isMine(code: UTF8String) = !customShuffle || ByCode.of(code, task.count) == task.index
    found = mutable.HashMap.empty
    Files.readAllLines(Path.of(path)).asScala.foreach { line =>
      val fields =
        Seq("code", "country", "continent").zip(line.split(',').map(UTF8String.fromString)).toMap
      val code = fields("code")
      if (isMine(code)) found(code) = InternalRow.fromSeq(wanted.toSeq.map(fields))
    }
  }

  override def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow] =
    keys.asScala.iterator.flatMap(key => found.get(key.getUTF8String(0))).asJava
}
