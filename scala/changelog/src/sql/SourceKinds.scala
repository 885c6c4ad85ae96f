package io.firesteel.changelog.sql

import io.firesteel.core.changes.RowKind
import io.firesteel.core.errors.FiresteelException

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.{BooleanType, ByteType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** The names that sources use for kinds of rows, in any case. Other names are errors. */
private[changelog] object SourceKinds {

  /** The names of Flink, Debezium, Spark's `Changelog` and Delta's change feed. */
  private val names: Seq[(Byte, Seq[String])] = Seq(
    RowKind.Insert -> Seq("+I", "I", "insert", "c", "create", "r", "read"),
    RowKind.UpdateBefore -> Seq("-U", "update_before", "update_preimage"),
    RowKind.UpdateAfter -> Seq("+U", "update_after", "update_postimage"),
    RowKind.Delete -> Seq("-D", "D", "delete")
  )

  /** Updates without the row before. The key finds that row, so these names need keys. */
  private val upserts: Seq[String] = Seq("U", "update", "upsert")

  private val kinds: Map[UTF8String, Byte] =
    names.flatMap { case (kind, all) => all.map(lowered(_) -> kind) }.toMap

  private val bare: Set[UTF8String] = upserts.map(lowered).toSet

  private def lowered(name: String): UTF8String =
    UTF8String.fromString(name.toLowerCase(Locale.ROOT))

  /** The kind in a column, as a number. */
  def read(column: Attribute, keyed: Boolean): Expression =
    StaticInvoke(
      getClass,
      ByteType,
      "of",
      Seq(column, Literal(keyed, BooleanType), Literal.create(column.name, StringType)),
      propagateNull = false,
      returnNullable = false)

  /**
   * The kind of a row with this name. A source need not emit the two sides of an update together,
   * so they are a deletion and an insert. With keys the first side stays an update-before, because
   * [[ArrivalOrder]] sorts it differently from a deletion.
   *
   * @param keyed whether a row replaces the row with the same key
   */
  def of(name: UTF8String, keyed: Boolean, column: UTF8String): Byte = {
    val known = if (name == null) None else kindOf(name)
    known match {
      case Some(RowKind.UpdateBefore) if keyed => RowKind.UpdateBefore
      case Some(kind) => if (RowKind.isRetraction(kind)) RowKind.Delete else RowKind.Insert
      case None if name != null && bare.contains(name.toLowerCase) =>
        if (keyed) RowKind.Insert else throw updateWithoutKeys(name, column)
      case None => throw unknown(name, column)
    }
  }

  private def kindOf(name: UTF8String): Option[Byte] =
    kinds.get(name).orElse(kinds.get(name.toLowerCase))

  private def unknown(name: UTF8String, column: UTF8String): Throwable =
    new FiresteelException(
      "FIRESTEEL_CHANGELOG_UNKNOWN_KIND",
      Map(
        "column" -> column.toString,
        "value" -> (if (name == null) "NULL" else s"'$name'"),
        "known" -> (names.flatMap(_._2) ++ upserts).mkString(", "))
    )

  private def updateWithoutKeys(name: UTF8String, column: UTF8String): Throwable =
    new FiresteelException(
      "FIRESTEEL_CHANGELOG_UPDATE_WITHOUT_KEYS",
      Map("column" -> column.toString, "value" -> s"'$name'"))
}
