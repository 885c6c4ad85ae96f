package io.firesteel.sinks.apply

import io.firesteel.core.changes.ChangelogMetadata
import io.firesteel.core.rows.PlainStrings
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StringType, StructField, StructType}

/**
 * The changes of one micro-batch.
 *
 * @param rows the data columns, named `c0`, `c1`, ..., and last `kind`
 * @param schema the data columns with the user's names
 * @param keys places of the columns that identify a row of the target
 * @param upserts whether updates have no `-U` row
 * @param tellsBefore whether the changelog's metadata promises `-U` rows: a batch without them has
 *   lost them to a filter, which is correct
 * @param identified whether the changelog's metadata says that the keys identify its rows: then no
 *   key has two rows at a time, and an insert may replace a row whose state has expired
 */
final private[sinks] case class ChangeSet(
    rows: DataFrame,
    schema: StructType,
    keys: Seq[Int],
    upserts: Boolean,
    tellsBefore: Boolean,
    identified: Boolean) {

  def keyNames: Seq[String] = keys.map(schema(_).name)
}

private[sinks] object ChangeSet {

  /** The name of the row kind column in [[ChangeSet.rows]]. */
  val kindColumn: String = "kind"

  /** Default names of the row kind column: usual names, and Spark's own for `row_kind()`. */
  private val usualNames = Seq("op", "row_kind()", "row_kind")

  def of(data: DataFrame, options: ApplyOptions): ChangeSet = {
    val fields = data.schema.fields.toSeq
    val kind = kindOf(fields, options)
    val others = fields.indices.filter(_ != kind)
    val places = options.keys.map { key =>
      val found = placesOf(fields, key).filter(_ != kind)
      if (found.size != 1) throw ApplyErrors.noColumn(key, others.map(fields(_).name))
      others.indexOf(found.head)
    }
    val keys = places.distinct.map(i => fields(others(i)).name)
    val told = ChangelogMetadata.of(fields(kind).metadata)
    val upserts = options.upserts || told.forall(!_.filtered) &&
      MicroBatch.isAsGiven(data) && isOfNewestRows(fields(kind), keys)
    // Without `-U` rows, a row that no longer passes the user's filter would stay in the target.
    if (!upserts && told.exists(!_.updateBefore)) throw ApplyErrors.noUpdateBefore()
    val columns = others.zipWithIndex.map { case (from, i) => plain(fields(from), from).as(s"c$i") }
    ChangeSet(
      data.toDF(fields.indices.map(i => s"_$i"): _*)
        .select(columns :+ col(s"_$kind").as(kindColumn): _*),
      StructType(others.map(fields(_)).map(f =>
        StructField(f.name, PlainStrings.of(f.dataType), nullable = true))),
      places.distinct,
      upserts,
      told.exists(_.updateBefore) && !choosesKinds(data),
      told.exists(its => tellApart(its, MicroBatch.namesGiven(data), kind, places.map(others)))
    )
  }

  /** Whether the keys contain an upsert key of the changelog. */
  private def tellApart(
      told: ChangelogMetadata,
      names: Seq[Option[String]],
      kind: Int,
      keys: Seq[Int]): Boolean = {
    val named = keys.flatMap(names(_)).toSet
    names(kind).nonEmpty && told.keys.exists(_.forall(named))
  }

  /**
   * Whether the changelog's metadata says that it has each key's newest row only, by exactly these
   * keys. With other keys, a row that moves to another key would stay at the old one as well.
   */
  private def isOfNewestRows(kind: StructField, keys: Seq[String]): Boolean = {
    val same = SQLConf.get.resolver
    ChangelogMetadata.of(kind.metadata).filterNot(_.updateBefore).exists { told =>
      val fits = told.keys.exists { key =>
        key.size == keys.size && key.forall(column => keys.exists(same(_, column)))
      }
      if (!fits) throw ApplyErrors.otherKeys(keys, told.keys)
      fits
    }
  }

  /** Whether a filter reads the row kind: it may remove one side of an update. */
  private def choosesKinds(data: DataFrame): Boolean = executionOf(data).analyzed.exists {
    case Filter(condition, _) =>
      condition.references.exists(column => ChangelogMetadata.of(column.metadata).isDefined)
    case _ => false
  }

  private def kindOf(fields: Seq[StructField], options: ApplyOptions): Int = {
    val found = options.kind match {
      case Some(named) => placesOf(fields, named)
      case None => usualNames.iterator.map(placesOf(fields, _)).find(_.nonEmpty).getOrElse(Nil)
    }
    found match {
      case Seq(one) if fields(one).dataType.isInstanceOf[StringType] => one
      case _ => throw ApplyErrors.noKindColumn(fields.map(_.name))
    }
  }

  private def placesOf(fields: Seq[StructField], name: String): Seq[Int] = {
    val same = SQLConf.get.resolver
    fields.indices.filter(i => same(fields(i).name, name))
  }

  /**
   * Strings are compared by their bytes, as the targets compare them: a group of equal collated
   * strings would lose an update from one to another.
   */
  private def plain(field: StructField, place: Int): Column =
    if (PlainStrings.of(field.dataType) == field.dataType) col(s"_$place")
    else col(s"_$place").cast(PlainStrings.of(field.dataType))
}
