package io.firesteel.changelog.flink

import scala.io.Source
import scala.util.Using
import scala.util.matching.Regex

/**
 * The kind of query and of input of one test of Flink.
 *
 * @param input its input and consumer: `retractions`, `keys`, `upserts`
 * @param later why it does not run yet
 * @param queries queries over `{t}`
 */
final case class FlinkCase(
    name: String,
    input: String,
    later: Option[String],
    queries: Seq[String])

object FlinkCase {

  private val header = """(?m)^-- (\w+)(?:: (.*))?$(?:\n-- later: (.*)$)?""".r

  /** The cases of `flink/<Flink's class>.sql`. */
  def of(testClass: String): Seq[FlinkCase] = {
    val text = Using.resource(Source.fromResource(s"flink/$testClass.sql"))(_.mkString)
    val heads = header.findAllMatchIn(text).toSeq
    heads.zip(heads.drop(1).map(_.start) :+ text.length).map { case (head, end) =>
      FlinkCase(
        head.group(1),
        Option(head.group(2)).getOrElse(""),
        Option(head.group(3)),
        text.slice(head.end, end).split(";\n").toSeq.map(written))
    }
  }

  /** Tables that are parts of `{t}`, and queries that many cases read; later ones are of former ones. */
  private val tables = Seq(
    "a" -> "SELECT k, v, g, d, id FROM {t} WHERE id < 100",
    "b" -> ("SELECT k AS bk, v AS bv, g AS bg, d AS bd, w AS bw, id AS bid FROM {t} " +
      "WHERE id BETWEEN 100 AND 199"),
    "c" -> "SELECT k AS ck, v AS cv, g AS cg FROM {t} WHERE id > 199",
    "sumA" -> "SELECT k, sum(v) AS v FROM {a} GROUP BY k",
    "sumB" -> "SELECT bk, sum(bv) AS bv FROM {b} GROUP BY bk",
    "maxA" -> "SELECT k, max(d) AS d, count(*) AS n FROM {a} GROUP BY k",
    "maxB" -> "SELECT bk, max(bd) AS bd, count(*) AS bn FROM {b} GROUP BY bk",
    "nullA" -> "SELECT nullif(k, 3) AS k, v, g FROM {a}",
    "nullB" -> "SELECT nullif(bk, 3) AS bk, bv, bg FROM {b}",
    "sums" -> "SELECT g, k, sum(v) AS v FROM {t} GROUP BY g, k",
    "counts" -> "SELECT g, k, count(v) AS n FROM {t} GROUP BY g, k",
    "all" -> ("SELECT g, k, sum(v) AS s, max(v) AS m, avg(v) AS a, count(v) AS n FROM {t} " +
      "GROUP BY g, k"),
    "timed" -> "SELECT *, timestamp_seconds(id % 9) AS at FROM {t}"
  )

  /** `{3 times: f(#)}` stands for `f(0), f(1), f(2)`. */
  private val repeated = """(?s)\{(\d+) times: (.*?)\}""".r

  private def written(query: String): String = {
    val full = tables.foldRight(query) { case ((name, sql), text) =>
      text.replace(s"{$name}", s"($sql)")
    }
    repeated.replaceAllIn(
      full,
      found => {
        val all = Seq.tabulate(found.group(1).toInt)(i => found.group(2).replace("#", i.toString))
        Regex.quoteReplacement(all.mkString(", "))
      })
  }
}
