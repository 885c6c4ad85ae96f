package io.firesteel.lookup.files

import java.util.{EnumSet, Map => JavaMap, Optional, Set => JavaSet}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import io.firesteel.lookup.{InputDataPartitioner, LookupContext, LookupFunction, SupportsLookup, SupportsLookupCustomShuffle}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.connector.catalog.{SupportsRead, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.firesteel.Files
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Bucketed Parquet files as a dimension: a task loads the buckets of the keys that it is asked.
 *
 * It can be asked by any columns. If they include the bucket columns, a key needs only its own
 * bucket; otherwise every task loads every bucket.
 *
 * Writing and partitions below the buckets are not supported.
 */
private[files] final case class FilesTable(layout: BucketLayout, options: FilesOptions)
  extends SupportsRead
  with SupportsLookup
  with SupportsLookupCustomShuffle {

  override def name(): String = s"firesteel-files ${layout.folder}"

  override def schema(): StructType = layout.schema

  override def capabilities(): JavaSet[TableCapability] = EnumSet.of(TableCapability.BATCH_READ)

  override def properties(): JavaMap[String, String] = options.lookups.asJava

  override def newScanBuilder(unused: CaseInsensitiveStringMap): ScanBuilder =
    Files.parquetScan(SparkSession.active, layout.folder, layout.schema, options.reader)

  /** All types except maps and types that contain maps, which have no equality. */
  override def lookupKeys(candidates: Array[String]): Array[String] =
    candidates.filter(name => RowOrdering.isOrderable(layout.schema(name).dataType))

  override def partitionKeys(): Array[String] = layout.bucketColumns.toArray

  override def getPartitioner(): Optional[InputDataPartitioner] =
    getPartitioner(StructType(layout.schema.filter(f => layout.bucketColumns.contains(f.name))))

  override def getPartitioner(keys: StructType): Optional[InputDataPartitioner] =
    BucketRule.of(layout, keys).map[InputDataPartitioner](new BucketPartitioner(_)).toJava

  override def newLookup(context: LookupContext): LookupFunction =
    new FilesLookup(BucketSource.of(SparkSession.active, layout, options, context))
}
