package io.firesteel.lookup.files

import io.firesteel.testkit.{AwkwardRows, RandomTables}
import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.expressions.{Expression, Expressions}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Gen, Prop, Test}

/** The function's answers, compared with Spark's own joins. */
class FilesLookupSuite extends FilesFixture {

  private val numbers = "SELECT id, id % 10 AS ten, 'n' || id AS name FROM range(1000)"

  override def beforeAll(): Unit = {
    super.beforeAll()
    AwkwardRows.createView(spark, "awkward", 150)
    write(spark.sql(numbers), "numbers", 16, "id")
    write(spark.table("awkward"), "all_types", 5, "id")
  }

  private def bucketsOf(files: Set[String]): Set[Int] =
    files.flatMap(org.apache.spark.sql.execution.datasources.BucketingUtils.getBucketId(_))

  (AwkwardRows.columns :+ "id").foreach { column =>
    test(s"answers by $column, zeros and NaNs being one, with every type in the rows") {
      assertAnswers("all_types", column)
    }
  }

  test("answers with the Parquet reader that makes no batches") {
    withConf("spark.sql.parquet.enableVectorizedReader" -> false)(assertAnswers("all_types", "id"))
  }

  test("answers as Spark joins, for random tables, buckets and keys") {
    val cases = for {
      rows <- RandomTables.rows(60)
      by <- Gen.someOf("k1", "k2", "k3", "id").suchThat(_.nonEmpty)
      keys <- Gen.someOf("k1", "k2", "k3", "v1", "id").suchThat(_.nonEmpty)
      buckets <- Gen.choose(1, 20)
    } yield (rows, by.toSeq, keys.toSeq, buckets)
    val property = Prop.forAllNoShrink(cases) { case (rows, by, keys, buckets) =>
      RandomTables.createView(spark, "random_view", rows)
      write(spark.table("random_view"), "random_table", buckets, by: _*)
      assertAnswers("random_table", keys: _*)
      true
    }
    val result = Test.check(property)(_.withMinSuccessfulTests(8).withWorkers(1))
    assert(result.passed, result.status)
  }

  test("answers nothing for keys that are not there") {
    val source = table("numbers")
    assert(ask(source, contextOf(source, Seq("id")), Seq(Row(-1L), Row(5000L))).isEmpty)
  }

  test("opens the files of the asked buckets only") {
    val source = table("numbers")
    val partitioner = source.getPartitioner().get
    val context = contextOf(source, Seq("id"))
    val keys = Seq(Row(3L), Row(4L), Row(999L))
    val buckets =
      keys.map(k => partitioner.partition(FilesFixture.internal(k, context.keys), 16)).toSet
    LoadedBuckets.dropIdle()
    val opened = CountedFileSystem.opened(ask(source, context, keys))
    assert(bucketsOf(opened) == buckets)
    assert(buckets.size < 4)
  }

  test("keys that include the bucket columns need their buckets only, others need all") {
    val source = table("numbers")
    LoadedBuckets.dropIdle()
    val both = CountedFileSystem.opened {
      val context = contextOf(source, Seq("id", "ten"))
      assert(ask(source, context, Seq(Row(13L, 3L), Row(13L, 4L))) == Seq(Row(13L, 3L, "n13")))
    }
    assert(bucketsOf(both).size == 1)
    val other = CountedFileSystem.opened {
      assert(ask(source, contextOf(source, Seq("ten")), Seq(Row(3L))).length == 100)
    }
    assert(bucketsOf(other).size == 16)
  }

  test("answers the wanted columns only, in the order of the table") {
    val source = table("numbers")
    val context = contextOf(source, Seq("id"), Seq("name", "id"))
    assert(ask(source, context, Seq(Row(7L))) == Seq(Row(7L, "n7")))
    // Without the bucket columns in the answer, rows cannot be checked, and are answered unchecked.
    val unchecked = contextOf(source, Seq("name"), Seq("name"))
    assert(ask(source, unchecked, Seq(Row("n7"))) == Seq(Row("n7")))
  }

  test("reads a folder by its options, and names in any case") {
    val folder = s"counted:${home.resolve("numbers")}"
    val source = load("path" -> folder, "buckets" -> "16", "bucket-by" -> "ID")
    assert(source.partitionKeys().toSeq == Seq("id"))
    assert(ask(source, contextOf(source, Seq("id")), Seq(Row(7L))) == Seq(Row(7L, 7L, "n7")))
  }

  test("is scannable, by spark.read and as a table of the catalog") {
    val folder = s"counted:${home.resolve("numbers")}"
    val read = spark.read
      .format("firesteel-files")
      .option("buckets", "16")
      .option("bucket-by", "id")
      .load(folder)
    assertSameRows(read.collect().toSeq, spark.table("numbers").collect().toSeq, "scan")
    assert(read.where("id = 7").select("name").collect().toSeq == Seq(Row("n7")))
    spark.sql("CREATE TABLE named USING `firesteel-files` OPTIONS (table 'numbers')")
    try assert(spark.table("named").where("ten = 3").count() == 100)
    finally { val _ = spark.sql("DROP TABLE named") }
  }

  test("an empty table and an empty folder have no rows") {
    write(spark.sql(numbers).where("id < 0"), "empty", 4, "id")
    val source = table("empty")
    assert(ask(source, contextOf(source, Seq("id")), Seq(Row(1L))).isEmpty)
    val folder = java.nio.file.Files.createDirectory(home.resolve("no files"))
    val declared = new FilesSource().getTable(
      StructType.fromDDL("id BIGINT"),
      Array.empty,
      java.util.Map.of("path", folder.toString, "buckets", "2", "bucket-by", "id"))
    declared match {
      case files: FilesTable =>
        assert(ask(files, contextOf(files, Seq("id")), Seq(Row(1L))).isEmpty)
      case other => fail(s"$other")
    }
  }

  test("columns that older files do not have are null") {
    write(spark.sql("SELECT id FROM range(10)"), "grown", 4, "id")
    spark.sql("ALTER TABLE grown ADD COLUMNS (more STRING)")
    append(spark.sql("SELECT id, 'new' AS more FROM range(5, 6)"), "grown", 4, "id")
    val source = table("grown")
    val answer = ask(source, contextOf(source, Seq("id")), Seq(Row(5L), Row(6L)))
    assert(answer.toSet == Set(Row(5L, null), Row(5L, "new"), Row(6L, null)))
  }

  test("pushes comparisons of plain columns, neither OR nor times nor collations") {
    val schema =
      StructType.fromDDL("n BIGINT, ci STRING COLLATE UTF8_LCASE, at TIMESTAMP, s STRING")
    def compare(name: String, column: String, value: Any) =
      new Predicate(name, Array[Expression](Expressions.column(column), Expressions.literal(value)))
    val plain = Seq(compare(">", "n", 5L), compare("=", "s", UTF8String.fromString("x")))
    assert(PushedFilters.of(plain, schema).length == 2)
    val others = Seq(
      compare("=", "ci", UTF8String.fromString("x")),
      compare(">", "at", java.time.Instant.EPOCH),
      new Predicate("OR", plain.toArray[Expression]),
      new Predicate("NOT", Array[Expression](plain.head))
    )
    assert(PushedFilters.of(others, schema).isEmpty)
  }

  test("a pushed condition loses no row that meets it") {
    val source = table("numbers")
    val atLeast5 = new Predicate(
      ">=",
      Array[Expression](Expressions.column("ten"), Expressions.literal(java.lang.Long.valueOf(5))))
    val context = contextOf(source, Seq("id"), filters = Seq(atLeast5))
    val answer = ask(source, context, (0L until 20L).map(Row(_)))
    assert((5L to 9L).forall(n => answer.contains(Row(n, n, s"n$n"))))
  }
}
