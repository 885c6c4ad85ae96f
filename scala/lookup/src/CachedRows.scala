package io.firesteel.lookup

import java.time.Duration
import java.util.UUID
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, BindReferences, Cast, Expression, ExprId, Literal, NamedExpression, NamedLambdaVariable, UnsafeProjection}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}

/**
 * What a PARTIAL cache holds: lookups that are equal in this may share one.
 *
 * Equal by structure and not by a text. SQL leaves out what decides how a row lies in memory, such
 * as a cast to an array, and a row that is read by another layout than its own is read out of place.
 * Equality that fails where it could hold costs a cache; the other way round it costs wrong rows.
 *
 * @param asked the function that is asked, or what stands for it
 * @param projection what is kept of a row, and `filters` which rows are: over the places of `columns`
 * @param retry without it a miss is kept sooner
 */
private[lookup] final case class CachedRows(
    asked: AnyRef,
    keys: StructType,
    columns: StructType,
    projection: Seq[Expression],
    filters: Option[Expression],
    cache: CachePolicy,
    retry: Option[RetryOnMiss])

private[lookup] object CachedRows {

  def of(
      asked: AnyRef,
      keys: Seq[Attribute],
      columns: Seq[Attribute],
      projection: Seq[NamedExpression],
      filters: Option[Expression],
      options: LookupOptions): CachedRows =
    CachedRows(
      asked,
      DataTypeUtils.fromAttributes(keys),
      DataTypeUtils.fromAttributes(columns),
      projection.map(placed(_, columns)),
      filters.map(placed(_, columns)),
      options.cache,
      options.retry
    )

  /**
   * A number for each, the same whenever this driver is asked about an equal one: for caches of
   * executors, which know a cache by its name. It is forgotten after longer than they keep a cache.
   */
  def number(rows: CachedRows): Long =
    numbers.get(rows, _ => Long.box(next.getAndIncrement())).longValue

  private val next = new AtomicLong

  /** One that holds the time of its micro-batch is asked about once: hence the bound. */
  private val numbers: Cache[CachedRows, java.lang.Long] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(Duration.ofHours(1))
      .maximumSize(4096)
      .build[CachedRows, java.lang.Long]()

  /** Without what differs from one micro-batch to the next: the ids of columns and variables. */
  private def placed(expression: Expression, columns: Seq[Attribute]): Expression = {
    val variables = mutable.HashMap.empty[ExprId, Long]
    BindReferences.bindReference(expression, columns).transformUp {
      case alias: Alias => alias.child
      case variable: NamedLambdaVariable =>
        val number = variables.getOrElseUpdate(variable.exprId, variables.size.toLong)
        NamedLambdaVariable(
          "",
          variable.dataType,
          variable.nullable,
          ExprId(number, nobody),
          null)
      // A map does not know its equal; the bytes of a row do.
      case Literal(value, of) if value != null && isNested(of) =>
        val bytes = UnsafeProjection.create(Array(of)).apply(InternalRow(value)).getBytes
        Cast(Literal(bytes), of)
    }
  }

  private def isNested(dataType: DataType): Boolean = dataType match {
    case _: ArrayType | _: MapType | _: StructType => true
    case _ => false
  }

  private val nobody = new UUID(0L, 0L)
}
