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
 * Identity of a PARTIAL cache. Lookups with equal values may share one cache.
 *
 * It compares structure, not text: SQL text omits details of a row's layout in memory, such as a
 * cast to an array, and a row read with another layout is wrong. Missing an equality costs a second
 * cache; assuming a false one costs wrong rows.
 *
 * @param asked the function, or a value that identifies it
 * @param projection the columns kept of a row; with `filters` over the places of `columns`
 * @param retry part of the identity, because without retries a miss is kept sooner
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
   * A number for each identity. This driver returns the same number for equal ones, and executors
   * name their caches by it. It forgets a number later than executors drop the cache.
   */
  def number(rows: CachedRows): Long =
    numbers.get(rows, _ => Long.box(next.getAndIncrement())).longValue

  private val next = new AtomicLong

  /** Bounded, because an identity that contains the time of its micro-batch is used only once. */
  private val numbers: Cache[CachedRows, java.lang.Long] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(Duration.ofHours(1))
      .maximumSize(4096)
      .build[CachedRows, java.lang.Long]()

  /** Without the ids of columns and variables, which differ between micro-batches. */
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
      // A map has no equality; the bytes of its row do.
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
