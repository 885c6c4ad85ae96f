package io.firesteel.lookup.jdbc

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.sql.DriverManager

import scala.jdk.CollectionConverters._

import io.firesteel.lookup.{LookupContext, LookupSuite, SyncLookupFunction, TaskInfo}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A database for the suite, and lookups in it without the engine. */
abstract class JdbcSuite extends LookupSuite {

  protected val password = "xy77-Tr0ub4dor"

  protected def url: String =
    s"jdbc:h2:mem:${getClass.getSimpleName};DB_CLOSE_DELAY=-1"

  /** The options of a connection to the suite's database. */
  protected def login: Map[String, String] =
    Map("url" -> url, "user" -> "sa", "password" -> password)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val _ = spark
  }

  protected def execute(statements: String*): Unit = {
    val properties = new java.util.Properties
    (login - "url").foreach { case (key, value) => properties.setProperty(key, value) }
    val connection = DriverManager.getConnection(login("url"), properties)
    try statements.foreach(sql => connection.createStatement().execute(sql))
    finally connection.close()
  }

  protected def table(options: (String, String)*): JdbcLookupTable =
    tableOf(login ++ options)

  protected def tableOf(options: Map[String, String]): JdbcLookupTable = {
    val provider = new JdbcProvider
    val schema = provider.inferSchema(new CaseInsensitiveStringMap(options.asJava))
    provider.getTable(schema, Array.empty, options.asJava).asInstanceOf[JdbcLookupTable]
  }

  /** The function as a task gets it: made on the driver, and serialized. */
  protected def function(
      table: JdbcLookupTable,
      keys: Seq[String],
      columns: Seq[String] = Nil,
      filters: Seq[Predicate] = Nil): JdbcLookupFunction = {
    val schema = table.schema
    val wanted =
      if (columns.isEmpty) schema else StructType(columns.map(schema(_)))
    val context = new LookupContext(
      StructType(table.lookupKeys(keys.toArray).map(schema(_))),
      wanted,
      filters.toArray,
      customShuffle = false,
      numPartitions = 0)
    sent(table.newLookup(context)).asInstanceOf[JdbcLookupFunction]
  }

  /** The rows of the keys, each key a sequence of values. */
  protected def rows(
      table: JdbcLookupTable,
      keys: Seq[String],
      columns: Seq[String] = Nil,
      filters: Seq[Predicate] = Nil)(values: Seq[Any]*): Seq[Row] = {
    val lookup = function(table, keys, columns, filters)
    val schema = table.schema
    opened(lookup) {
      asked(
        lookup,
        StructType(keys.map(schema(_))),
        if (columns.isEmpty) schema else StructType(columns.map(schema(_))))(values: _*)
    }
  }

  protected def opened[T](lookup: SyncLookupFunction)(work: => T): T = {
    lookup.open(TaskInfo(0, 1, 0, suiteName))
    try work
    finally lookup.close()
  }

  protected def asked(lookup: SyncLookupFunction, keys: StructType, columns: StructType)(
      values: Seq[Any]*): Seq[Row] = {
    val external = CatalystTypeConverters.createToScalaConverter(columns)
    lookup.lookup(internal(keys, values).asJava).asScala.toSeq.map(external(_).asInstanceOf[Row])
  }

  protected def internal(keys: StructType, values: Seq[Seq[Any]]): Seq[InternalRow] = {
    val toInternal = CatalystTypeConverters.createToCatalystConverter(keys)
    values.map(v => toInternal(Row(v: _*)).asInstanceOf[InternalRow])
  }

  private def sent[T](thing: T): T = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(thing)
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
    in.readObject().asInstanceOf[T]
  }
}
