package io.firesteel.lookup.files

import io.firesteel.testkit.{AwkwardRows, SinceSpark}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.BucketingUtils
import org.apache.spark.sql.types.{StringType, StructType}
import org.scalacheck.{Gen, Prop, Test}
import org.scalatest.Assertion

/** The partitioner compared with the files that Spark writes. */
class FilesPartitionerSuite extends FilesFixture {

  private val collated = Set("ci", "uni")
  private val hasTime = SinceSpark.is("4.1") // the type TIME
  private val columns =
    AwkwardRows.columns.filterNot(collated) ++ (if (hasTime) Seq("time") else Nil)

  override def beforeAll(): Unit = {
    super.beforeAll()
    AwkwardRows.createView(spark, "some_awkward", 150)
    spark
      .sql(
        if (hasTime) {
          """SELECT *, CASE WHEN id % 4 = 0 THEN NULL ELSE TIME'01:02:03.000004' END AS time
            |FROM some_awkward""".stripMargin
        } else "SELECT * FROM some_awkward")
      .createOrReplaceTempView("awkward")
  }

  /** Every row of a table is in the file of the partitioner's bucket. */
  private def assertAgrees(name: String, by: String*): Assertion = {
    val source = table(name)
    val keys = StructType(source.schema().filter(f => by.contains(f.name)))
    val partitioner = source.getPartitioner(keys).get
    val names = keys.fieldNames.map(n => s"`$n`") :+ "_metadata.file_name"
    val wrong = spark.table(name).selectExpr(names.toSeq: _*).collect().toSeq.flatMap { row =>
      val key = FilesFixture.internal(org.apache.spark.sql.Row(row.toSeq.init: _*), keys)
      val bucket = BucketingUtils.getBucketId(row.getString(row.length - 1)).get
      Seq(source.layout.buckets, 4, 1, 1000).collect {
        case n if partitioner.partition(key, n) != bucket % n => s"$row for $n"
      }
    }
    assert(wrong.isEmpty)
  }

  columns.foreach { column =>
    test(s"agrees with Spark's buckets by $column, nulls included") {
      write(spark.table("awkward").select(column, "id"), "by_one", 7, column)
      assertAgrees("by_one", column)
    }
  }

  test("agrees with Spark's buckets by char and varchar") {
    spark.sql("DROP TABLE IF EXISTS by_char")
    spark.sql(
      """CREATE TABLE by_char (c CHAR(6), v VARCHAR(9), id BIGINT) USING parquet
        |CLUSTERED BY (v, c) INTO 5 BUCKETS""".stripMargin)
    spark.sql(
      """INSERT INTO by_char
        |SELECT 'x' || id % 17, nullif('y ' || id % 13, 'y 3'), id FROM range(100)""".stripMargin)
    // Spark before 4.2 finds no `_metadata` above the projection that pads; files have the blanks.
    withConf("spark.sql.readSideCharPadding" -> hasMetadataOfPadded)(
      assertAgrees("by_char", "v", "c"))
  }

  private def hasMetadataOfPadded: Boolean = SinceSpark.is("4.2")

  test("agrees with Spark's buckets by several columns in any order") {
    val cases = for {
      count <- Gen.choose(2, 4)
      by <- Gen.pick(count, columns).flatMap(picked => Gen.oneOf(picked.toSeq.permutations.toSeq))
      buckets <- Gen.choose(1, 40)
    } yield (by, buckets)
    val property = Prop.forAllNoShrink(cases) { case (by, buckets) =>
      write(spark.table("awkward").selectExpr(by :+ "id": _*), "by_several", buckets, by: _*)
      assertAgrees("by_several", by: _*)
      true
    }
    val result = Test.check(property)(_.withMinSuccessfulTests(12).withWorkers(1))
    assert(result.passed, result.status)
  }

  test("-0.0 stays -0.0 in Spark's files, in the bucket of 0.0") {
    write(spark.sql("SELECT d FROM VALUES (0.0D), (-0.0D) AS t(d)"), "zeros", 7, "d")
    val files = spark.table("zeros").select("d", "_metadata.file_name").collect().toSeq
    assert(files.map(_.getDouble(0).toString).toSet == Set("0.0", "-0.0"))
    assert(files.map(row => BucketingUtils.getBucketId(row.getString(1))).toSet.size == 1)
  }

  test("Spark writes no buckets by collated strings or maps") {
    (collated + "m").foreach { column =>
      val refused = intercept[SparkThrowable with Throwable] {
        write(spark.table("awkward").select(column, "id"), "by_none", 7, column)
      }
      assert(refused.getCondition != null)
    }
  }

  test("collated strings that are equal share a bucket") {
    val ci = StringType("UTF8_LCASE")
    val bucketOf = BucketRule(Seq(0), Seq(ci), 1000).compile()
    def of(text: String) = bucketOf(
      InternalRow(org.apache.spark.unsafe.types.UTF8String.fromString(text)))
    assert(of("Key") == of("kEY"))
    assert(of("Key") != of("other"))
  }

  test("needs all bucket columns, and says which they are") {
    write(spark.table("awkward").select("s", "i", "id"), "by_two", 7, "s", "i")
    val source = table("by_two")
    assert(source.partitionKeys().toSeq == Seq("s", "i"))
    assert(source.getPartitioner().isPresent)
    assert(source.getPartitioner().get.isDeterministic())
    assert(!source.getPartitioner(StructType(Seq(source.schema()("s")))).isPresent)
  }
}
