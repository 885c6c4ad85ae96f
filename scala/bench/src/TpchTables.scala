package io.firesteel.bench

import io.trino.tpch.TpchTable

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}

/** The tables of TPC-H, and its queries. */
object TpchTables {

  /** Names and columns, as the specification has them. */
  val schemas: Map[String, String] = Map(
    "region" -> "r_regionkey BIGINT, r_name STRING, r_comment STRING",
    "nation" -> "n_nationkey BIGINT, n_name STRING, n_regionkey BIGINT, n_comment STRING",
    "supplier" -> ("s_suppkey BIGINT, s_name STRING, s_address STRING, s_nationkey BIGINT, " +
      "s_phone STRING, s_acctbal DECIMAL(12,2), s_comment STRING"),
    "customer" -> ("c_custkey BIGINT, c_name STRING, c_address STRING, c_nationkey BIGINT, " +
      "c_phone STRING, c_acctbal DECIMAL(12,2), c_mktsegment STRING, c_comment STRING"),
    "part" -> ("p_partkey BIGINT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, " +
      "p_size INT, p_container STRING, p_retailprice DECIMAL(12,2), p_comment STRING"),
    "partsupp" -> ("ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INT, " +
      "ps_supplycost DECIMAL(12,2), ps_comment STRING"),
    "orders" -> ("o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus STRING, " +
      "o_totalprice DECIMAL(12,2), o_orderdate DATE, o_orderpriority STRING, o_clerk STRING, " +
      "o_shippriority INT, o_comment STRING"),
    "lineitem" -> ("l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, " +
      "l_quantity DECIMAL(12,2), l_extendedprice DECIMAL(12,2), l_discount DECIMAL(12,2), " +
      "l_tax DECIMAL(12,2), l_returnflag STRING, l_linestatus STRING, l_shipdate DATE, " +
      "l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING, " +
      "l_comment STRING")
  )

  /** One of `parts` parts of a table, made on the driver: for small scales. */
  def part(spark: SparkSession, table: String, scale: Double, part: Int, parts: Int): DataFrame = {
    val lines = TpchTable.getTable(table).createGenerator(scale, part, parts).asScala
      .map(_.toLine).toSeq
    spark.read.schema(schemas(table)).option("sep", "|")
      .csv(spark.createDataset(lines)(Encoders.STRING))
  }

  val queries: Seq[String] = (1 to 22).map(number => s"q$number")

  /** The text of a query. The build takes it out of a test jar of Spark (see `build.sbt`). */
  def sql(query: String): String =
    Using.resource(getClass.getResourceAsStream(s"/tpch/$query.sql")) { in =>
      new String(in.readAllBytes(), UTF_8)
    }
}
