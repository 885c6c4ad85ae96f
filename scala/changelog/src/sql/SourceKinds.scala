package io.firesteel.changelog.sql

import io.firesteel.core.changes.RowKind
import io.firesteel.core.errors.FiresteelException

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.{BooleanType, ByteType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** What sources call the kinds of their rows: in any case, and no other name. */
private[changelog] object SourceKinds {

  /** Flink's, Debezium's, and those of Spark's `Changelog` and of Delta's change feed. */
  private val names: Seq[(Byte, Seq[String])] = Seq(
    RowKind.Insert -> Seq("+I", "I", "insert", "c", "create", "r", "read"),
    RowKind.UpdateBefore -> Seq("-U", "update_before", "update_preimage"),
    RowKind.UpdateAfter -> Seq("+U", "update_after", "update_postimage"),
    RowKind.Delete -> Seq("-D", "D", "delete")
  )

  /** Updates that tell their row alone: what was there before is known by the key, or not at all. */
  private val upserts: Seq[String] = Seq("U", "update", "upsert")

  private val kinds: Map[UTF8String, Byte] =
    names.flatMap { case (kind, all) => all.map(lowered(_) -> kind) }.toMap

  private val bare: Set[UTF8String] = upserts.map(lowered).toSet

  private def lowered(name: String): UTF8String =
    UTF8String.fromString(name.toLowerCase(Locale.ROOT))

  /** The kind that a column tells, as a number. */
  def read(column: Attribute, keyed: Boolean): Expression =
    StaticInvoke(
      getClass,
      ByteType,
      "of",
      Seq(column, Literal(keyed, BooleanType), Literal.create(column.name, StringType)),
      propagateNull = false,
      returnNullable = false)

  /**
   * Whether a row of that name comes or goes. Nothing says that a source gives the two sides of an
   * update one after the other, so they are a deletion and an insertion; of rows with a key the first
   * stays an update-before, which [[ArrivalOrder]] tells from a deletion.
   *
   * @param keyed whether a row replaces another of its key
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
