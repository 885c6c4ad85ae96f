package io.firesteel.bench

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.expr

/**
 * The tables of TPC-H as changelogs. Rows come in two parts, one micro-batch each. In the micro-batch
 * after its own, one row of six is deleted and one is updated, in the tables that have changes.
 */
final class TpchChanges(spark: SparkSession, scale: Double) {

  val micro: Seq[Int] = Seq(1, 2, 3)
  private val parts = 2

  /** By table: the key, and what an update makes of some columns. */
  private val changing: Map[String, (Seq[String], Map[String, String])] = Map(
    "orders" -> (
      Seq("o_orderkey"),
      Map(
        "o_custkey" -> "o_custkey + 1",
        "o_orderdate" -> "date_add(o_orderdate, 120)",
        "o_totalprice" -> "o_totalprice + 1000",
        "o_orderpriority" -> "'1-URGENT'")),
    "lineitem" -> (
      Seq("l_orderkey", "l_linenumber"),
      Map(
        "l_suppkey" -> "l_suppkey % 20 + 1",
        "l_quantity" -> "l_quantity + 30",
        "l_discount" -> "0.05",
        "l_receiptdate" -> "date_add(l_receiptdate, 60)",
        "l_returnflag" -> "'R'",
        "l_shipmode" -> "'MAIL'"
      )),
    "customer" -> (
      Seq("c_custkey"),
      Map(
        "c_nationkey" -> "(c_nationkey + 7) % 25",
        "c_mktsegment" -> "'BUILDING'",
        "c_acctbal" -> "c_acctbal + 500")),
    "partsupp" -> (
      Seq("ps_partkey", "ps_suppkey"),
      Map(
        "ps_availqty" -> "ps_availqty + 5000",
        "ps_supplycost" -> "ps_supplycost * 0.5"))
  )

  /** Rows with their part, and their fate: 0 is deletion, 1 an update. */
  private lazy val all: Map[String, DataFrame] = TpchTables.schemas.keys.map { table =>
    val rows = (1 to parts).map { part =>
      TpchTables.part(spark, table, scale, part, parts).selectExpr("*", s"$part AS part")
    }.reduce(_ union _)
    // So few suppliers, in nations at random, would leave out those that queries ask for.
    val spread =
      if (table == "supplier") rows.withColumn("s_nationkey", expr("s_suppkey % 25")) else rows
    val fate = changing.get(table).fold("2") { case (key, _) =>
      s"pmod(hash(${key.mkString(", ")}), 6)"
    }
    table -> spread.selectExpr("*", s"$fate AS fate").coalesce(1).cache()
  }.toMap

  private def columns(table: String): Seq[String] =
    TpchTables.schemas(table).split(", ").toSeq.map(_.takeWhile(_ != ' '))

  private def updated(table: String): Seq[String] = {
    val types = all(table).schema
    columns(table).map { c =>
      changing(table)._2.get(c).fold(c)(e => s"CAST($e AS ${types(c).dataType.sql}) AS $c")
    }
  }

  /** Whether updates of a table come as upserts, and not as the old row and the new one. */
  def isUpserted(table: String): Boolean = table == "orders" || table == "customer"

  def hasChanges(table: String): Boolean = changing.contains(table)

  /** A table as a query on a stream reads it, over a view of its changes. */
  def read(table: String, changes: String): String = {
    val key = changing.get(table).map(_._1.mkString("'", "', '", "'"))
    if (!hasChanges(table)) changes
    else if (isUpserted(table)) {
      s"from_changelog(TABLE($changes), op => 'op', keys => array(${key.get}))"
    } else s"from_changelog(TABLE($changes), 'op')"
  }

  /** What comes in a micro-batch, with kinds in a last column `op` if the table has changes. */
  def in(table: String, micro: Int): DataFrame = {
    val come = all(table).where(s"part = $micro").selectExpr(columns(table): _*)
    if (!hasChanges(table)) come
    else {
      val before = all(table).where(s"part = $micro - 1")
      val gone = before.where("fate = 0").selectExpr(columns(table) :+ "'-D' AS op": _*)
      val old = before.where("fate = 1").selectExpr(columns(table) :+ "'-U' AS op": _*)
      val made = before.where("fate = 1").selectExpr(updated(table) :+ "'+U' AS op": _*)
      val changes = come.selectExpr("*", "'+I' AS op").union(gone).union(made)
      (if (isUpserted(table)) changes else changes.union(old)).coalesce(1)
    }
  }

  /** The table after a micro-batch. */
  def after(table: String, micro: Int): DataFrame = {
    val here = all(table).where(s"part <= $micro")
    if (!hasChanges(table)) here.selectExpr(columns(table): _*)
    else here.where(s"fate > 1 OR part = $micro").selectExpr(columns(table): _*)
      .union(here.where(s"fate = 1 AND part < $micro").selectExpr(updated(table): _*))
  }
}
