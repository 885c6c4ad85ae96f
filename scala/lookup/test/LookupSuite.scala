package io.firesteel.lookup

import io.firesteel.core.CoreConf
import io.firesteel.testkit.{BesideComet, RoomSuite}
import org.apache.spark.sql.{DataFrame, Row, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/** The room alone, with a catalog `mem` whose tables can only be looked up. */
abstract class LookupSuite extends RoomSuite {

  require((CoreConf.all ++ LookupConf.all).nonEmpty, "reading the settings registers them")

  override protected def settings: Map[String, String] =
    Map("spark.sql.catalog.mem" -> classOf[MemoryCatalog].getName)

  override protected def install(extensions: SparkSessionExtensions): Unit =
    LookupRoom.install(extensions)

  /** Puts the rows of `data` into a store `mem.<name>`, and into a plain view `<name>`. */
  protected def store(
      name: String,
      data: DataFrame,
      behaviour: StoreBehaviour = StoreBehaviour(),
      options: Map[String, String] = Map.empty,
      partitioner: Option[InputDataPartitioner] = None): MemoryStore = {
    data.createOrReplaceTempView(name)
    val rows = data.collect().toSeq
    val converter = CatalystTypeConverters.createToCatalystConverter(data.schema)
    MemoryStores.put(
      new MemoryStore(
        name,
        data.schema,
        rows.map(converter(_).asInstanceOf[InternalRow]),
        behaviour,
        options),
      partitioner)
  }

  protected def table(schema: String, rows: Row*): DataFrame = {
    import scala.jdk.CollectionConverters._
    spark.createDataFrame(rows.asJava, StructType.fromDDL(schema))
  }

  /**
   * Runs a join with `mem.<name>` and the same with the plain view, and compares them.
   *
   * @param sql has `{c}` where the dimension stands, `{hint}` where a hint may
   */
  protected def assertJoins(sql: String, name: String, hint: String = ""): DataFrame = {
    def asked(table: String, hint: String): Seq[DataFrame] =
      BesideComet.above(spark, sql.replace("{c}", table).replace("{hint}", hint))
        .map(spark.sql(_))
    val (ours, theirs) = (asked(s"mem.$name", hint), asked(name, ""))
    ours.zip(theirs).foreach { case (one, other) =>
      assertSameRows(one.collect().toSeq, other.collect().toSeq, s"$sql $hint")
    }
    ours.head
  }
}
