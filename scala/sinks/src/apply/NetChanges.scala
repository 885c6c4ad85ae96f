package io.firesteel.sinks.apply

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.functions.{coalesce, col, first, lit, max, max_by, min, monotonically_increasing_id, shiftright, struct, sum, to_json, when}

/**
 * The net change of a micro-batch per key of the target: at most one new row, or a deletion.
 *
 * The changes of one key may come from several tasks, in no order: the target's key may differ from
 * the columns by which the query's operators are distributed. A changelog with `-U` rows needs no
 * order: the multiset of inserts less the multiset of retractions is the net change. A row that
 * moves from one key to another is retracted at one and inserted at the other. If a key has an
 * insert and no retraction, the target must not have that key: an earlier micro-batch may have
 * inserted it.
 *
 * Without `-U` rows the last change of a key counts, and all changes of a key must come from one
 * task.
 */
private[sinks] object NetChanges {

  // The columns of the result: the action, the new row, the key, and the problem found.
  val action: String = "action"
  val row: String = "row"
  val key: String = "key"
  val problem: String = "problem"
  val detail: String = "detail"
  val updates: String = "updates"
  val befores: String = "befores"

  val put: Int = 1
  val remove: Int = -1
  val nothing: Int = 0

  /** Insert a row whose key the target must not have. */
  val add: Int = 2

  private val came = Seq(RowKind.Insert, RowKind.UpdateAfter).map(k => RowKind.names(k.toInt))
  private val went = Seq(RowKind.UpdateBefore, RowKind.Delete).map(k => RowKind.names(k.toInt))

  /** @param mayBeTwo whether another key may be the same in the target */
  def apply(changes: ChangeSet, mayBeTwo: Column = lit(false)): DataFrame =
    if (changes.upserts) lastOfEach(changes) else sumOfEach(changes, mayBeTwo)

  private def sumOfEach(changes: ChangeSet, mayBeTwo: Column): DataFrame = {
    val all = columns(changes)
    val keys = changes.keys.map(i => col(s"c$i"))
    val weight = col("weight")
    // One shuffle is enough: equal rows have equal keys.
    val byRow = changes.rows
      .repartition(keys: _*)
      .groupBy(all: _*)
      .agg(sum(sign).as("weight"), counts: _*)
    val gained = sum(when(weight > 0, weight).otherwise(0))
    val lost = sum(when(weight < 0, -weight).otherwise(0))
    val byKey = byRow
      .groupBy(keys: _*)
      .agg(
        gained.as("gained"),
        lost.as("lost"),
        first(when(weight > 0, struct(all: _*)), ignoreNulls = true).as(row),
        max(stranger).as("stranger"),
        sum(updates).as(updates),
        sum(befores).as(befores)
      )
    val wrong = when(stranger.isNotNull, Problem.kind)
      .when(col("gained") > 1 or col("lost") > 1, Problem.notAKey)
    val isNew = col("lost") === 0 and (lit(!changes.identified) or mayBeTwo)
    val what = when(col("gained") > 0, when(isNew, add).otherwise(put))
      .when(col("lost") > 0, remove)
      .otherwise(nothing)
    result(byKey, changes, what, wrong)
  }

  private def lastOfEach(changes: ChangeSet): DataFrame = {
    val all = columns(changes)
    val keys = changes.keys.map(i => col(s"c$i"))
    val (place, task) = (col("place"), shiftright(col("place"), 33))
    val byKey = changes.rows
      .withColumn("place", monotonically_increasing_id())
      .repartition(keys: _*)
      .groupBy(keys: _*)
      .agg(
        max_by(struct(sign.as("sign"), struct(all: _*).as(row)), place).as("last"),
        Seq(min(task).as("first_task"), max(task).as("last_task")) ++ counts: _*
      )
      .withColumn(row, col("last").getField(row))
    val wrong = when(stranger.isNotNull, Problem.kind)
      .when(col("first_task") =!= col("last_task"), Problem.noOrder)
    val what = when(col("last").getField("sign") > 0, put).otherwise(remove)
    result(byKey, changes, what, wrong)
  }

  private def result(
      byKey: DataFrame,
      changes: ChangeSet,
      what: Column,
      wrong: Column): DataFrame = {
    val keys = struct(changes.keys.map(i => col(s"c$i")): _*)
    val named = struct(changes.keys.map(i => col(s"c$i").as(changes.schema(i).name)): _*)
    val anyNull = changes.keys.map(i => col(s"c$i").isNull).reduce(_ or _)
    val isNull = anyNull and what =!= nothing
    val found = coalesce(wrong, when(isNull, Problem.nullKey), lit(Problem.none))
    byKey
      .select(
        what.as(action),
        col(row),
        keys.as(key),
        found.as(problem),
        named.as("named"),
        stranger,
        col(updates),
        col(befores))
      .withColumn(
        detail,
        when(col(problem) === Problem.kind, stranger)
          .when(col(problem) =!= Problem.none, to_json(col("named"))))
      .drop("named", "stranger")
  }

  private def columns(changes: ChangeSet): Seq[Column] =
    changes.schema.indices.map(i => col(s"c$i"))

  private def sign: Column = when(
    col(ChangeSet.kindColumn).isin(came: _*),
    1).when(col(ChangeSet.kindColumn).isin(went: _*), -1)

  private def stranger: Column = col("stranger")

  private def counts: Seq[Column] = Seq(
    max(when(sign.isNull, coalesce(col(ChangeSet.kindColumn), lit("NULL")))).as("stranger"),
    sum(when(
      col(ChangeSet.kindColumn) === RowKind.names(RowKind.UpdateAfter.toInt),
      1L).otherwise(0L))
      .as(updates),
    sum(when(
      col(ChangeSet.kindColumn) === RowKind.names(RowKind.UpdateBefore.toInt),
      1L).otherwise(0L))
      .as(befores)
  )
}

/** Problems with the changes of a key, as numbers that tasks report. */
private[sinks] object Problem {
  val none: Int = 0
  val nullKey: Int = 1 // an error only if the target allows several rows with the same null key
  val kind: Int = 2
  val notAKey: Int = 3
  val noOrder: Int = 4
}
