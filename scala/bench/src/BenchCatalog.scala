package io.firesteel.bench

import java.util.{Collections, Optional, Set => JavaSet}

import io.firesteel.lookup.{InputDataPartitioner, LookupContext, LookupFunction, SupportsLookup, SupportsLookupCustomShuffle}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCapability, TableChange}
import org.apache.spark.sql.firesteel.ReadOnlyCatalog
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * The catalog `bench`: customers in stores that can only be looked up.
 *
 *  - `bench.memory`: in the task's process
 *  - `bench.slow`, `bench.slow_one_by_one`: behind [[SlowStore]], asynchronous or not
 *  - `bench.slow_unsharded`: the same without a partitioner, so a shuffle is by hash
 */
final class BenchCatalog extends ReadOnlyCatalog {

  private var catalogName = ""
  private var port = 0

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    catalogName = name
    port = options.getInt("port", 0)
  }

  override def name(): String = catalogName

  override def loadTable(ident: Identifier): Table = ident.name match {
    case "memory" => new CustomersTable(ident.name, context => new MemoryLookup(context.columns))
    case "slow" =>
      new ShardedCustomersTable(ident.name, context => new SlowStoreAsync(port, context.columns))
    case "slow_unsharded" =>
      new CustomersTable(ident.name, context => new SlowStoreAsync(port, context.columns))
    case "slow_one_by_one" =>
      new CustomersTable(ident.name, context => new SlowStoreSync(port, context.columns))
    case _ => throw new NoSuchTableException(ident)
  }

  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty
  override def alterTable(ident: Identifier, changes: TableChange*): Table = refuse()
  override def dropTable(ident: Identifier): Boolean = refuse()
  override def renameTable(from: Identifier, to: Identifier): Unit = refuse()

  private def refuse(): Nothing = throw new UnsupportedOperationException("read only")
}

private class CustomersTable(
    override val name: String,
    function: LookupContext => LookupFunction)
  extends SupportsLookup {

  override def schema(): StructType = Customers.schema

  override def capabilities(): JavaSet[TableCapability] = Collections.emptySet[TableCapability]

  override def lookupKeys(candidates: Array[String]): Array[String] = candidates.filter(_ == "id")

  override def newLookup(context: LookupContext): LookupFunction = function(context)
}

private final class ShardedCustomersTable(name: String, function: LookupContext => LookupFunction)
  extends CustomersTable(name, function)
  with SupportsLookupCustomShuffle {

  override def getPartitioner(): Optional[InputDataPartitioner] = Optional.of(ByHash)
}

/** Neighbouring ids belong to different partitions. */
private case object ByHash extends InputDataPartitioner {
  override def partition(joinKeys: InternalRow, numPartitions: Int): Int =
    if (joinKeys.isNullAt(0)) 0
    else Math.floorMod(joinKeys.getLong(0) * 0x9e3779b97f4a7c15L >>> 32, numPartitions.toLong).toInt
}
