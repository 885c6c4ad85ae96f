package io.firesteel.sinks.apply

import io.firesteel.core.changes.ChangelogMetadata
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
 * @param schema the data columns as the user names them
 * @param keys places of the columns that identify a row of the target
 * @param upserts whether updates come without the row that they replace
 * @param tellsBefore whether the changelog says of itself that they come with it, so that a batch
 *   without these rows has lost them to a filter, as it may
 * @param identified whether the changelog says of itself that the keys tell its rows apart: then no two
 *   rows have a key at a time, and a key may come anew that the query has forgotten
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

  /** The name of the column of kinds in [[ChangeSet.rows]]. */
  val kindColumn: String = "kind"

  /** Where kinds are looked for: what people call the column, and what Spark does. */
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
    val upserts =
      options.upserts || MicroBatch.isAsGiven(data) && isOfNewestRows(fields(kind), keys)
    // Of a row that has left what a filter keeps, nothing would be said.
    if (!upserts && told.exists(!_.updateBefore)) throw ApplyErrors.noUpdateBefore()
    val columns = others.zipWithIndex.map { case (from, i) => plain(fields(from), from).as(s"c$i") }
    ChangeSet(
      data.toDF(fields.indices.map(i => s"_$i"): _*)
        .select(columns :+ col(s"_$kind").as(kindColumn): _*),
      StructType(others.map(fields(_)).map(f => StructField(f.name, typeOf(f), nullable = true))),
      places.distinct,
      upserts,
      told.exists(_.updateBefore) && !choosesKinds(data),
      told.exists(its => tellApart(its, MicroBatch.namesGiven(data), kind, places.map(others)))
    )
  }

  /** Whether the keys contain one by which the changelog tells its rows apart. */
  private def tellApart(
      told: ChangelogMetadata,
      names: Seq[Option[String]],
      kind: Int,
      keys: Seq[Int]): Boolean = {
    val named = keys.flatMap(names(_)).toSet
    names(kind).nonEmpty && told.keys.exists(_.forall(named))
  }

  /**
   * Whether the changelog says of itself that it has each key's newest row alone, by just these keys: by
   * others, a row that moves from one to another would stay at both.
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

  /** Whether rows were left out by what kind they are of: both sides of an update are not judged alike. */
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
   * Strings are told apart by their bytes, as the targets do it: a group of a collation's equal
   * strings would lose the update from one to another.
   */
  private def plain(field: StructField, place: Int): Column =
    if (typeOf(field) == field.dataType) col(s"_$place")
    else col(s"_$place").cast(StringType)

  private def typeOf(field: StructField) = field.dataType match {
    case _: StringType => StringType
    case other => other
  }
}
