package io.firesteel.sinks.postgres

import io.firesteel.sinks.apply.{ApplyErrors, ChangeSet}

import java.sql.Connection

import Postgres.{query, quoted}

/**
 * The target table, as its database describes it.
 *
 * @param columns for each column of the changelog, the table's column and its type
 * @param nullsAreKeys whether the unique index allows only one row per key with nulls
 * @param repeated keys of which several may have one value in the table
 * @param zone sets the time zone of times without one; none if no column needs it
 */
final private[postgres] case class PostgresTable(
    schema: String,
    name: String,
    columns: Seq[PostgresColumn],
    keys: Seq[Int],
    nullsAreKeys: Boolean,
    repeated: Seq[Int],
    zone: Option[String]) {

  def keyColumns: Seq[PostgresColumn] = keys.map(columns)

  /** The quoted name with its schema. */
  def qualified: String = in(name)

  /** The quoted name of another table in the same schema. */
  def in(other: String): String = s"${quoted(schema)}.${quoted(other)}"
}

final private[postgres] case class PostgresColumn(
    name: String,
    sqlType: String,
    baseType: String) {
  def sql: String = quoted(name)
}

private[postgres] object PostgresTable {

  private val find =
    """SELECT n.nspname, c.relname, c.oid::bigint
      |FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      |WHERE c.oid = to_regclass(?)::oid AND c.relkind IN ('r', 'p')""".stripMargin

  private val columnsOf =
    """SELECT attname, format_type(atttypid, NULL),
      |  (WITH RECURSIVE base AS (
      |     SELECT oid, typbasetype FROM pg_type WHERE oid = atttypid
      |     UNION ALL
      |     SELECT t.oid, t.typbasetype FROM pg_type t JOIN base b ON t.oid = b.typbasetype)
      |   SELECT format_type(oid, NULL) FROM base WHERE typbasetype = 0)
      |FROM pg_attribute
      |WHERE attrelid = ?::oid AND attnum > 0 AND NOT attisdropped""".stripMargin

  /**
   * Unique indexes without conditions, expressions or deferral. The row is read as JSON because
   * older servers lack the last column.
   */
  private val uniqueOf =
    """SELECT
      |  (SELECT array_agg(a.attname::text) FROM pg_attribute a
      |   WHERE a.attrelid = i.indrelid
      |     AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])),
      |  coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)
      |FROM pg_index i
      |WHERE i.indrelid = ?::oid AND i.indisunique AND i.indisvalid AND i.indimmediate
      |  AND i.indpred IS NULL AND i.indexprs IS NULL""".stripMargin

  def of(connection: Connection, named: String, changes: ChangeSet): PostgresTable = {
    val (schema, name, oid) =
      query(connection, find)(named)(r => (r.getString(1), r.getString(2), r.getLong(3)))
        .headOption.getOrElse(throw ApplyErrors.noTable(named))
    val all = query(connection, columnsOf)(oid)(r =>
      PostgresColumn(r.getString(1), r.getString(2), r.getString(3)))
    val columns = changes.schema.map { field =>
      all.find(_.name == field.name)
        .orElse(all.find(_.name.equalsIgnoreCase(field.name)))
        .getOrElse(throw ApplyErrors.noColumn(field.name, all.map(_.name)))
    }
    val keys = changes.keys.map(columns(_).name)
    val unique = query(connection, uniqueOf)(oid) { r =>
      (r.getArray(1).getArray.asInstanceOf[Array[String]].toSet, r.getBoolean(2))
    }.filter(_._1 == keys.toSet)
    if (unique.isEmpty) throw ApplyErrors.noUniqueKey(named, keys.map(quoted).mkString(", "))
    val pairs = changes.schema.map(_.dataType).zip(columns.map(_.baseType))
    PostgresTable(
      schema,
      name,
      columns,
      changes.keys,
      unique.forall(_._2),
      changes.keys.filter(i => PostgresTimes.mayRepeat(pairs(i)._1, pairs(i)._2)),
      Option.when(
        pairs.exists(its => PostgresTimes.hasNoZone(its._1, its._2)))(PostgresTimes.setZone)
    )
  }
}
