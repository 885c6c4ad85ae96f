package io.firesteel.lookup.jdbc

import scala.jdk.OptionConverters._
import java.util.{EnumSet, Optional, Set => JavaSet}

import scala.jdk.CollectionConverters._

import io.firesteel.lookup.{LookupContext, LookupFunction, SupportsLookup}
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.firesteel.JdbcInternals
import org.apache.spark.sql.jdbc.{JdbcDialect, JdbcDialects}
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A table of a database: looked up by key, or scanned as Spark's JDBC source scans it. */
private[jdbc] final class JdbcLookupTable(override val schema: StructType, settings: JdbcSettings)
  extends Table
  with SupportsLookup
  with SupportsRead {

  private def dialect: JdbcDialect = JdbcDialects.get(settings.options.url)
  private def database: Database = Database.of(settings.options.url)

  override def name(): String = s"${JdbcProvider.name} ${settings.shownTable}"

  override def capabilities(): JavaSet[TableCapability] = EnumSet.of(TableCapability.BATCH_READ)

  /** The options `lookup.*` for the join; none of them can contain a password. */
  override def properties(): java.util.Map[String, String] = settings.lookups.asJava

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = {
    val merged = settings.plus(options.asCaseSensitiveMap().asScala.toMap)
    JdbcInternals.scanOf(schema, RedactingConnectionProvider.optionsOf(merged))
  }

  /** The join compares columns that the database does not compare as Spark does. */
  override def lookupKeys(candidates: Array[String]): Array[String] =
    candidates.filter(keyColumn(_).isRight)

  override def whyNoKey(column: String): Optional[String] =
    keyColumn(column).left.toOption
      .map(why =>
        s"$why. Cast it in the database, by the option query or a view." +
          (if (database != PostgreSql) ""
           else
             s" Or read it as text by the option customSchema '$column STRING', and compare it " +
               "with the text that the database returns for it"))
      .toJava

  private def keyColumn(name: String): Either[String, KeyColumn] =
    database.keyColumn(described(name), dialect)

  private def read(name: String): String =
    database.read(described(name), dialect.quoteIdentifier(name))

  private def described(name: String): DatabaseColumn = {
    val own = field(name)
    val isAsInferred = DatabaseColumn.hasNotes(own) && settings.options.customSchema.isEmpty
    val read =
      if (isAsInferred) own
      else inferred.find(_.name.equalsIgnoreCase(own.name)).getOrElse(own)
    DatabaseColumn(own, read)
  }

  /**
   * The columns with Spark's own types: a schema given by hand does not show the database's types.
   */
  @transient private lazy val inferred: StructType = DatabaseSchema.of(settings.withoutSchema)

  override def newLookup(context: LookupContext): LookupFunction = {
    val keys = context.keys.fieldNames.toSeq.flatMap(keyColumn(_).toOption)
    val columns = context.columns.fieldNames.map(field)
    val filtered = context.filters.flatMap(_.references).map(_.fieldNames.head).distinct
    val kept = new KeptFilters(
      filtered.filter(schema.fieldNames.contains).map(name => name -> described(name)).toMap,
      database,
      dialect)
    new JdbcLookupFunction(
      settings,
      dialect,
      LookupStatement.of(
        settings.options,
        dialect,
        database,
        keys,
        columns.map(column => read(column.name)),
        context.filters.filter(kept(_))),
      StructType(columns)
    )
  }

  /** A query may write a column's name in another case than the database, which is exact. */
  private def field(name: String): StructField =
    schema.find(_.name == name).getOrElse(schema.find(_.name.equalsIgnoreCase(name)).get)

  override def toString: String = name()
}
