package io.firesteel.lookup.testing

import io.firesteel.lookup.{AsyncLookupFunction, LookupContext, LookupFunction, SupportsLookup, SyncLookupFunction, TaskInfo}
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.commons.lang3.SerializationUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{ArrayType, BinaryType, BooleanType, ByteType, DataType, DateType, Decimal, DecimalType, DoubleType, FloatType, IntegerType, LongType, MapType, ShortType, StringType, StructField, StructType, TimestampNTZType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

/** A lookup function that one task has opened. */
private[testing] final class OpenFunction private (
    table: String,
    function: LookupFunction,
    context: LookupContext) {
  private val text = new RowText(context.columns)
  private val keyOf = UnsafeProjection.create(context.keys.fields.toSeq.map { field =>
    BoundReference(context.columns.fieldIndex(field.name), field.dataType, nullable = true)
  })

  /** The ways to ask it. */
  val ways: Seq[String] = function match {
    case _: SyncLookupFunction with AsyncLookupFunction => Seq("lookup", "lookupAsync")
    case _: AsyncLookupFunction => Seq("lookupAsync")
    case _ => Seq("lookup")
  }

  /**
   * The rows of some keys, asked for in calls of at most `size` keys.
   *
   * @param what describes the question in errors
   */
  def ask(what: String, way: String, keys: Seq[UnsafeRow], size: Int): Seq[UnsafeRow] = {
    val most = CheckFailure.in(table, "maxBatchKeys")(function.maxBatchKeys)
    if (most < 1) CheckFailure(table, s"maxBatchKeys is $most. It must be 1 or more.")
    val calls = keys.grouped(math.min(size, most)).toSeq
    val rows = way match {
      case "lookup" => calls.flatMap(lookup(what, _))
      case _ => lookupAsync(what, calls)
    }
    rows.filter(row => isAsked(row, keys))
  }

  def close(): Unit = CheckFailure.in(table, "close()")(function.close())

  private def lookup(what: String, keys: Seq[UnsafeRow]): Seq[UnsafeRow] =
    function match {
      case sync: SyncLookupFunction =>
        CheckFailure.in(table, s"$what of ${keys.size} keys") {
          val answer = sync.lookup(listOf(keys))
          if (answer == null) CheckFailure(table, "lookup returned null: return no rows instead.")
          answer.asScala.map(checked).toList
        }
      case _ => Nil
    }

  /** All calls before the first answer, as a task does. */
  private def lookupAsync(
      what: String,
      calls: Seq[Seq[UnsafeRow]]): Seq[UnsafeRow] = function match {
    case async: AsyncLookupFunction =>
      val futures = calls.map { keys =>
        val future = CheckFailure.in(table, s"$what of ${keys.size} keys")(
          async.lookupAsync(listOf(keys)))
        if (future == null) CheckFailure(table, "lookupAsync returned null instead of a future.")
        future
      }
      futures.flatMap { future =>
        val answer = CheckFailure.in(table, s"the future of $what")(
          future.get(OpenFunction.longestSeconds, TimeUnit.SECONDS))
        if (answer == null) CheckFailure(table, "the future of lookupAsync is completed by null.")
        answer.asScala.map(checked)
      }
    case _ => Nil
  }

  private def listOf(keys: Seq[UnsafeRow]): java.util.List[InternalRow] =
    java.util.Collections.unmodifiableList(keys.map(_.copy(): InternalRow).asJava)

  /** A checked copy, because all answers may be one reused row. */
  private def checked(row: InternalRow): UnsafeRow = {
    if (row == null) CheckFailure(table, "an answer holds null instead of a row.")
    val columns = context.columns
    if (row.numFields != columns.length) {
      CheckFailure(
        table,
        s"a row has ${row.numFields} columns. It must have those of LookupContext.columns, in " +
          s"this order: ${columns.fieldNames.mkString(", ")}.")
    }
    columns.fields.zipWithIndex.foreach { case (field, i) =>
      if (row.isNullAt(i)) {
        if (!field.nullable) {
          CheckFailure(table, s"a row has null in ${field.name}, which is not nullable.")
        }
      } else checkType(field, row.get(i, field.dataType))
    }
    text.copied(row)
  }

  private def checkType(field: StructField, value: Any): Unit =
    OpenFunction.classOfValue(field.dataType).filterNot(_.isInstance(value)).foreach { wanted =>
      CheckFailure(
        table,
        s"a row has ${field.name} as ${value.getClass.getName}. InternalRow holds " +
          s"${field.dataType.sql} as ${wanted.getName}.")
    }

  private def isAsked(row: UnsafeRow, keys: Seq[UnsafeRow]): Boolean = {
    val key = keyOf(row)
    val known = keys.contains(key)
    if (!known && !function.mayAnswerOtherKeys) {
      CheckFailure(
        table,
        s"it answered the row ${text.text(row)}, whose key was not asked. If the store compares " +
          "keys less strictly than Spark, let mayAnswerOtherKeys be true."
      )
    }
    known
  }
}

private[testing] object OpenFunction {

  val longestSeconds = 60L

  /** Makes a function, ships it as Spark does, and opens it. */
  def apply(table: SupportsLookup, context: LookupContext, task: TaskInfo): OpenFunction = {
    val function = shipped(table, context)
    CheckFailure.in(table.name, s"open($task)")(function.open(task))
    new OpenFunction(table.name, function, context)
  }

  /** A copy of a new function, not opened. */
  def shipped(table: SupportsLookup, context: LookupContext): LookupFunction = {
    val made = CheckFailure.in(table.name, "newLookup")(table.newLookup(context))
    if (made == null) CheckFailure(table.name, "newLookup returned null.")
    CheckFailure.in(
      table.name,
      "Java serialization of the function of newLookup: open connections in open(), and mark the " +
        "fields that hold them @transient. It")(SerializationUtils.clone(made))
  }

  /** How InternalRow holds a value. */
  private def classOfValue(dataType: DataType): Option[Class[_]] = dataType match {
    case _: StringType => Some(classOf[UTF8String])
    case BooleanType => Some(classOf[java.lang.Boolean])
    case ByteType => Some(classOf[java.lang.Byte])
    case ShortType => Some(classOf[java.lang.Short])
    case IntegerType | DateType => Some(classOf[java.lang.Integer])
    case LongType | TimestampType | TimestampNTZType => Some(classOf[java.lang.Long])
    case FloatType => Some(classOf[java.lang.Float])
    case DoubleType => Some(classOf[java.lang.Double])
    case BinaryType => Some(classOf[Array[Byte]])
    case _: DecimalType => Some(classOf[Decimal])
    case _: StructType => Some(classOf[InternalRow])
    case _: ArrayType => Some(classOf[ArrayData])
    case _: MapType => Some(classOf[MapData])
    case _ => None
  }
}
