package io.firesteel.changelog

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.Row
import org.scalacheck.Gen

/**
 * Random changelogs of the table of [[RandomQueries]], whose kinds are in a last column `op`: rows
 * come, are replaced and go, in and across micro-batches.
 */
object RandomChangelogs {

  val schema: String = RandomQueries.schema + ", op STRING"

  /** The same with the input in a first column: see [[ChangelogStream.Inputs]]. */
  val schemaOfInputs: String = "input STRING, " + schema

  private val idAt = 5

  private val insertions = Seq("+I", "I", "insert", "INSERT", "c", "r")
  private val deletions = Seq("-D", "d", "D", "delete")
  private val updates = Seq("u", "U", "update", "upsert", "+U")

  /** Rows that only come; their kinds are not read. */
  val inserted: ChangelogStream.Source = new ChangelogStream.Changes(
    name => s"(SELECT ${RandomQueries.plain.columns.map(_.name).mkString(", ")} FROM $name)",
    _.map(change => Row.fromSeq(change.toSeq.init)))

  /** Whole rows come and go. */
  val full: ChangelogStream.Source = new ChangelogStream.Changes(
    name => s"from_changelog(TABLE($name), 'op')",
    fed => {
      val copies = mutable.LinkedHashMap.empty[Row, Int]
      fed.foreach { change =>
        val row = Row.fromSeq(change.toSeq.init)
        val sign = if (isRetraction(change)) -1 else 1
        copies(row) = copies.getOrElse(row, 0) + sign
      }
      copies.toSeq.flatMap { case (row, n) => Seq.fill(math.max(n, 0))(row) }
    }
  )

  /** Rows replace and delete others by their id. */
  val upserts: ChangelogStream.Source = keyed(sequence = false)

  /** The same, where a key's row with the greatest `v` wins, in whichever order they come. */
  val sequenced: ChangelogStream.Source = keyed(sequence = true)

  private def keyed(sequence: Boolean): ChangelogStream.Source =
    new ChangelogStream.Changes(
      name => {
        val by = if (sequence) ", sequence_by => 'v'" else ""
        s"from_changelog(TABLE($name), op => 'op', keys => array('id')$by)"
      },
      fed => {
        val table = mutable.LinkedHashMap.empty[Any, Row]
        (if (sequence) fed.sortBy(sequenceOf) else fed).foreach { change =>
          val row = Row.fromSeq(change.toSeq.init)
          if (isRetraction(change)) table.remove(row.get(idAt))
          else table(row.get(idAt)) = row
        }
        table.values.toSeq
      }
    )

  private def sequenceOf(row: Row): Long = if (row.isNullAt(2)) Long.MinValue else row.getLong(2)

  private def isRetraction(change: Row): Boolean = {
    val op = change.getString(change.length - 1)
    deletions.contains(op) || op == "-U"
  }

  /** Micro-batches of whole rows that come, are replaced (`-U`, `+U`) and go. */
  val fullBatches: Gen[Seq[Seq[Row]]] = told { (random, row, live) =>
    random.nextInt(5) match {
      case 0 | 1 if live.nonEmpty =>
        val gone = live.remove(random.nextInt(live.size))
        Seq(change(gone, pick(random, deletions)))
      case 2 if live.nonEmpty =>
        val old = live.remove(random.nextInt(live.size))
        live += row
        Seq(change(old, "-U"), change(row, "+U"))
      case _ =>
        live += row
        Seq(change(row, pick(random, insertions)))
    }
  }

  /**
   * Micro-batches of rows by key: insertions of keys that are there, deletions of keys that are not,
   * deletions that tell the key alone.
   */
  val upsertBatches: Gen[Seq[Seq[Row]]] = told { (random, row, _) =>
    val id = random.nextInt(6).toLong
    val keyed = Row.fromSeq(row.toSeq.updated(idAt, id))
    val op = random.nextInt(6)
    if (op == 0) Seq(change(keyed, pick(random, deletions)))
    else if (op == 1) {
      val keyAlone = Row.fromSeq(Seq.fill[Any](idAt)(null) :+ id)
      Seq(change(keyAlone, pick(random, deletions)))
    } else if (op == 2) Seq(change(keyed, "-U"), change(keyed, "+U"))
    else if (op == 3) Seq(change(keyed, pick(random, insertions)))
    else Seq(change(keyed, pick(random, updates)))
  }

  /** Micro-batches of inputs of any kinds, with these names. */
  def inputs(names: Seq[String]): Gen[(ChangelogStream.Source, Seq[Seq[Row]])] = {
    val one = Gen.oneOf(
      RandomQueries.batches.map(inserted -> _.map(_.map(row => change(row, "+I")))),
      fullBatches.map(full -> _),
      upsertBatches.map(upserts -> _),
      upsertBatches.map(sequenced -> _)
    )
    for {
      all <- Gen.listOfN(names.size, one)
      seed <- Gen.long
    } yield {
      val random = new Random(seed)
      val batches = (0 until all.map(_._2.size).max).map { i =>
        val named = names.zip(all).map { case (name, (_, its)) =>
          its.lift(i).getOrElse(Nil).map(row => Row.fromSeq(name +: row.toSeq)).iterator
        }
        mixed(random, named)
      }
      (new ChangelogStream.Inputs(names.zip(all.map(_._1))), batches)
    }
  }

  /** Rows of all, in any order between them, and in their own order within each. */
  private def mixed(random: Random, all: Seq[Iterator[Row]]): Seq[Row] =
    Iterator.continually(all.filter(_.hasNext)).takeWhile(_.nonEmpty)
      .map(left => left(random.nextInt(left.size)).next()).toSeq

  private def told(
      changes: (Random, Row, mutable.ArrayBuffer[Row]) => Seq[Row]): Gen[Seq[Seq[Row]]] =
    for {
      batches <- RandomQueries.batches
      seed <- Gen.long
    } yield {
      val (random, live) = (new Random(seed), mutable.ArrayBuffer.empty[Row])
      batches.map(_.flatMap(row => changes(random, row, live)))
    }

  private def change(row: Row, op: String): Row = Row.fromSeq(row.toSeq :+ op)

  private def pick(random: Random, names: Seq[String]): String = names(random.nextInt(names.size))
}
