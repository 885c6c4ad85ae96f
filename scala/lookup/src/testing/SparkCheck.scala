package io.firesteel.lookup.testing

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.util.TypeUtils.typeWithProperEquals
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/** Compares lookup joins with plain joins. */
private[testing] final class SparkCheck(table: String, store: CheckedStore, rows: Seq[Row]) {

  def run(spark: SparkSession, name: String): Unit = {
    val asked = spark.createDataFrame(questions.asJava, questionSchema)
    val plain = spark.createDataFrame(rows.asJava, store.schema)
    val looked = spark.table(name)
    for {
      how <- Seq("left", "inner")
      shuffle <- Seq("false", "true")
      cache <- Seq("NONE", "PARTIAL")
      condition <- None +: (if (shuffle == "true") Nil else aCondition.toSeq.map(Some(_)))
    } {
      val hints = Seq(s"shuffle=$shuffle", s"lookup.cache=$cache") ++
        (if (cache == "PARTIAL") Seq("lookup.partial-cache.max-rows=1000") else Nil)
      val ours = join(asked, looked.hint("LOOKUP", hints: _*), how, condition)
      val theirs = join(asked, plain, how, condition)
      val text = new RowText(ours.schema)
      val what = s"a $how join (${hints.mkString(", ")})" +
        condition.fold("")(found => s" with a condition on ${found._1}")
      val got = CheckFailure.in(table, what)(ours.collect().toSeq).map(text.of)
      checkPlan(ours, name)
      val wanted = theirs.collect().toSeq.map(text.of)
      new Comparison(table, what, ours.schema).apply(got, wanted, wanted)
    }
  }

  private val questionSchema = StructType(
    StructField("asked_row", LongType) +:
      store.keys.fields.toSeq.map(field => StructField(s"asked_${field.name}", field.dataType)))

  /** Each key twice, keys without rows, and for each key column a key in which it is null. */
  private def questions: Seq[Row] = {
    val places = store.keys.fieldNames.toSeq.map(store.schema.fieldIndex)
    val keys = rows.map(row => places.map(row.get)) ++ store.missing.map(_.toSeq)
    val nulls = places.indices.map(i => keys.head.updated(i, null))
    (keys ++ keys ++ nulls).zipWithIndex.map { case (key, i) => Row.fromSeq(i.toLong +: key) }
  }

  /** A value of a column that is no key. */
  private def aCondition: Option[(String, Any)] = {
    val found = for {
      field <- store.schema.fields.iterator
      if !store.keys.fieldNames.contains(field.name) && typeWithProperEquals(field.dataType)
      value <- rows.iterator.map(_.get(store.schema.fieldIndex(field.name)))
      if value != null
    } yield field.name -> value
    found.nextOption()
  }

  private def join(
      asked: DataFrame,
      dimension: DataFrame,
      how: String,
      condition: Option[(String, Any)]): DataFrame = {
    val keys: Seq[Column] =
      store.keys.fieldNames.toSeq.map(key => asked(s"asked_$key") === dimension(key))
    val more = condition.map { case (column, value) => dimension(column) === lit(value) }
    asked.join(dimension, (keys ++ more).reduce(_ && _), how)
  }

  private def checkPlan(ours: DataFrame, name: String): Unit = ours match {
    case classic: Dataset[_]
        if !classic.queryExecution.executedPlan.toString.contains("LookupJoin") =>
      CheckFailure(
        table,
        s"a join with $name is not a lookup join. Start the session with firesteel's extension, " +
          "and let the catalog return a table that is a SupportsLookup."
      )
    case _ => ()
  }
}
