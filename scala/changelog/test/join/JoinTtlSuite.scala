package io.firesteel.changelog.join

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.testkit.LongTest

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.util.{Random, Using}

import org.apache.spark.sql.Row
import org.scalatest.Assertion

/** Joins whose rows expire, each side's after its own time, against [[ExpiringJoin]]. */
class JoinTtlSuite extends ChangelogSuite {

  private val schema = "s STRING, k INT, v INT, op STRING"
  private val types = Seq("INNER", "LEFT", "FULL", "LEFT SEMI", "LEFT ANTI")

  /** Joins of all types, told apart by a first column: one micro-batch serves them all. */
  private def sql(hint: String): String = types.map { joinType =>
    val right = if (joinType.startsWith("LEFT ")) "NULL AS bk, NULL AS bv" else "bk, bv"
    s"SELECT /*+ STATE_TTL($hint) */ '$joinType' AS t, k, v, $right " +
      "FROM (SELECT k, v FROM {t} WHERE s = 'a') a " +
      s"$joinType JOIN (SELECT k AS bk, v AS bv FROM {t} WHERE s = 'b') b ON k = bk AND v <= bv"
  }.mkString(" UNION ALL ")

  /** The time of the last micro-batch, by which state expires. */
  private def timeOf(checkpoint: String): Long = {
    val offsets = Path.of(checkpoint.stripPrefix("file:")).resolve("offsets")
    val last = Using.resource(Files.list(offsets)) { files =>
      files.map[String](_.getFileName.toString).filter(_.forall(_.isDigit))
        .mapToLong(_.toLong).max.getAsLong
    }
    """"batchTimestampMs":(\d+)""".r.findFirstMatchIn(Files.readString(offsets.resolve(s"$last")))
      .get.group(1).toLong
  }

  private def rowOf(joinType: String, shown: ExpiringJoin.Shown): Row =
    Row.fromSeq(joinType +: Seq(shown._1, shown._2).flatMap {
      case Some((key, value)) => Seq[Any](key.map(Int.box).orNull, value)
      case None => Seq[Any](null, null)
    })

  private def net(changes: Seq[Row]): Map[Row, Long] =
    changes.groupMapReduce(row => Row.fromSeq(row.toSeq.init))(row =>
      if (row.getString(row.length - 1).startsWith("+")) 1L else -1L)(_ + _).filter(_._2 != 0L)

  /** A change of a row that is there, or of a new one: a side, a key, a value, and whether it goes. */
  private def changes(random: Random): Iterator[(Int, ExpiringJoin.Side, Int)] = {
    val live = mutable.ArrayBuffer.empty[(Int, ExpiringJoin.Side)]
    Iterator.continually {
      if (live.nonEmpty && random.nextInt(10) < 3) {
        val (side, row) = live.remove(random.nextInt(live.size))
        (side, row, -1)
      } else {
        val key = Option.when(random.nextInt(9) > 0)(random.nextInt(6) / 5)
        live += ((random.nextInt(2), (key, random.nextInt(3))))
        (live.last._1, live.last._2, 1)
      }
    }
  }

  private def check(
      provider: String,
      hint: String,
      ttls: Seq[Long],
      pauses: Map[Int, Long]): Assertion =
    withProvider(provider) {
      val random = new Random(7)
      val models = types.map(joinType => joinType -> new ExpiringJoin(joinType, ttls))
      val whole =
        new ChangelogStream.Changes(name => s"from_changelog(TABLE($name), 'op')", identity)
      val fed = stream(schema, sql(hint), whole)
      try {
        fed.start()
        changes(random).take(30).zipWithIndex.foreach { case ((side, row, sign), i) =>
          if (i == 12) fed.restart()
          pauses.get(i).foreach(Thread.sleep)
          val name = if (side == 0) "a" else "b"
          fed.feed(Seq(Row(name, row._1.map(Int.box).orNull, row._2, if (sign > 0) "+I" else "-D")))
          val now = timeOf(fed.checkpoint)
          val wanted = models.flatMap { case (joinType, model) =>
            model.change(side, row, sign, now).map { case (shown, count) =>
              rowOf(joinType, shown) -> count
            }
          }.toMap
          assert(net(fed.last) == wanted, s"$hint, micro-batch $i: $name $row $sign")
        }
        assert(models.forall(_._2.expired > 0), "rows expired")
      } finally fed.stop()
    }

  /** Times to live, and pauses before some micro-batches: most rows live through several of them. */
  private val times = Seq(
    ("'a=4s', 'b=0s'", Seq(4000L, 0L), Map(10 -> 4200L, 18 -> 4200L)),
    ("'a=6s', 'b=3s'", Seq(6000L, 3000L), Map(9 -> 3200L, 17 -> 6200L)))

  for {
    (provider, i) <- providers.zipWithIndex
    ((hint, ttls, pauses), j) <- times.zipWithIndex
  } test(
    s"expired rows are as if they had never been, $hint, ${provider.split('.').last}",
    (if (i == j) Nil else Seq(LongTest)): _*) {
    check(provider, hint, ttls, pauses)
  }
}
