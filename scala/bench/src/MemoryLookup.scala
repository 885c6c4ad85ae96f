package io.firesteel.bench

import java.util.{Iterator => JavaIterator, List => JavaList}

import scala.jdk.CollectionConverters._

import io.firesteel.lookup.SyncLookupFunction

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/** Computes every customer, so no store can be slow. */
private final class MemoryLookup(columns: StructType) extends SyncLookupFunction {

  override def lookup(keys: JavaList[InternalRow]): JavaIterator[InternalRow] =
    keys.iterator.asScala.map { key =>
      val id = key.getLong(0)
      Customers.row(columns, id, Customers.name(id), Customers.region(id))
    }.asJava
}
