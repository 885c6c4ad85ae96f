package io.firesteel.core.rows

import java.lang.ref.SoftReference
import java.util.{LinkedHashMap, Map => JMap}

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, BoundReference, CodegenObjectFactoryMode, Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.GeneratedClass
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{BinaryType, BooleanType, DataType, DateType, NumericType, StringType, StructType, TimestampNTZType, TimestampType}

/**
 * Projections to columns as they are, and Spark's to all else.
 *
 * Spark writes the code of a projection in each task, to find by it the class that it compiled before,
 * among its last ones (`spark.sql.codegen.cache.maxEntries`). A stream has several projections in each
 * task of each micro-batch, which may be short. Here the class is found by the columns.
 */
private[firesteel] object ColumnProjection {

  def apply(columns: Seq[Expression], input: Seq[Attribute]): UnsafeProjection =
    apply(BindReferences.bindReferences(columns, input))

  /** To all columns of these types. */
  def apply(types: Array[DataType]): UnsafeProjection =
    apply(types.toSeq.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) })

  def apply(schema: StructType): UnsafeProjection = apply(schema.fields.map(_.dataType))

  /** To these expressions, which are bound. */
  def apply(bound: Seq[Expression]): UnsafeProjection = {
    val columns = bound.collect { case column: BoundReference if isFlat(column.dataType) => column }
    if (columns.size < bound.size || isInterpreted) UnsafeProjection.create(bound)
    else
      ofColumns(columns).getOrElse {
        val made = UnsafeProjection.create(bound)
        classOf(made).foreach(keep(columns, _))
        made
      }
  }

  /** Whether its code needs nothing but the row. */
  private def isFlat(t: DataType): Boolean = t match {
    case _: NumericType | _: StringType | BooleanType | BinaryType => true
    case DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  /** By its name: the value of the setting has another type in Spark 4.0. */
  private def isInterpreted: Boolean = SQLConf.get.getConf(SQLConf.CODEGEN_FACTORY_MODE).toString ==
    CodegenObjectFactoryMode.NO_CODEGEN.toString

  private val maxClasses = 1000

  /** The last used. A class holds the loader of a session's jars. */
  private val classes =
    new LinkedHashMap[Seq[BoundReference], SoftReference[GeneratedClass]](64, 0.75f, true) {
      override protected def removeEldestEntry(
          eldest: JMap.Entry[Seq[BoundReference], SoftReference[GeneratedClass]]): Boolean =
        size > maxClasses
    }

  private def ofColumns(columns: Seq[BoundReference]): Option[UnsafeProjection] =
    classes.synchronized(Option(classes.get(columns))).flatMap(its => Option(its.get)).map {
      _.generate(Array.empty[Any]).asInstanceOf[UnsafeProjection]
    }

  private[rows] def knows(columns: Seq[BoundReference]): Boolean =
    classes.synchronized(classes.containsKey(columns))

  private def keep(columns: Seq[BoundReference], generated: GeneratedClass): Unit =
    classes.synchronized { val _ = classes.put(columns, new SoftReference(generated)) }

  /** What makes projections of the same class; none if it is not of generated code. */
  private def classOf(projection: UnsafeProjection): Option[GeneratedClass] =
    Option(projection.getClass.getEnclosingClass)
      .filter(its => Predef.classOf[GeneratedClass].isAssignableFrom(its))
      .map(_.getConstructor().newInstance().asInstanceOf[GeneratedClass])
}
