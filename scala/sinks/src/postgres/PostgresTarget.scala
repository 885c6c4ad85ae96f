package io.firesteel.sinks.postgres

import io.firesteel.core.errors.FiresteelException
import io.firesteel.sinks.apply.{AppliedBy, ApplyErrors, ChangeSet, Done, NetChanges, Progress, Target, Verdict}

import java.sql.{Connection, SQLException}
import java.util.UUID

import scala.util.Try

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.functions.{coalesce, col, lit}
import org.apache.spark.sql.firesteel.executionOf

import Postgres.{query, quoted, run, update}

/**
 * A PostgreSQL table.
 *
 * Tasks write the net changes into a staging table of this try, so nothing must fit into the
 * driver's memory. Then one transaction on the driver deletes, upserts, writes the micro-batch's
 * number to `firesteel_applied_batches` and drops the staging table. After a crash before the
 * commit the target is unchanged. After a crash behind the commit, the number shows that the
 * repeated micro-batch is to be skipped.
 */
final private[sinks] class PostgresTarget(options: Map[String, String]) extends Target {
  import PostgresTarget._

  private val postgres = Postgres(options)

  override protected def place: String =
    s"${CaseInsensitiveMap(options).getOrElse("url", "")} ${postgres.dbtable}"

  override protected def progress(): Progress = postgres.transaction { connection =>
    val found = query(
      connection,
      """SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        |WHERE c.oid = to_regclass(?)::oid""".stripMargin
    )(postgres.dbtable)(r => (r.getString(1), r.getString(2)))
    found.headOption match {
      case Some((schema, name)) => progressOf(connection, schema, name, "")
      case None => throw ApplyErrors.noTable(postgres.table)
    }
  }

  override protected def apply(changes: ChangeSet, by: AppliedBy): Unit = {
    val stem = s"${stagePrefix}_${digest(s"${postgres.table} ${by.query}")}"
    val stage = s"${stem}_${digest(UUID.randomUUID().toString)}"
    val table = postgres.transaction { connection =>
      val table = PostgresTable.of(connection, postgres.dbtable, changes)
      createProgress(connection, table)
      dropLeftOvers(connection, table, stem)
      val columns = table.columns.map(_.sql).mkString(", ")
      run(
        connection,
        s"CREATE UNLOGGED TABLE ${table.in(stage)} AS SELECT 0::bigint AS $attempt, " +
          s"false AS $goes, false AS $comes, $columns FROM ${table.qualified} WITH NO DATA"
      )
      table
    }
    val staged = fill(changes, table, stage)
    val verdict = staged.map(_.verdict).foldLeft(Verdict.empty)(_ and _)
    val attempts = staged.filter(_.verdict.staged > 0).map(_.attempt).toArray
    try {
      verdict.require(changes, postgres.table, table.nullsAreKeys)
      postgres.transaction(merge(_, table, stage, attempts, verdict, by))
    } catch {
      // A failure of the database has a cause.
      case e: FiresteelException if e.getCause == null =>
        // If this fails, the next try drops it. The error about the changes is the one to report.
        Try(postgres.transaction(run(_, s"DROP TABLE IF EXISTS ${table.in(stage)}")))
        throw e
    }
  }

  private def fill(changes: ChangeSet, table: PostgresTable, stage: String): Seq[Staged] = {
    // Keys that the table takes for one another must not replace each other.
    val isRepeated =
      table.repeated.map(i => PostgresTimes.isRepeated(col(s"c$i"))).reduceOption(_ or _)
    val net = NetChanges(changes, isRepeated.getOrElse(lit(false)))
    // A deletion needs the key only.
    def value(i: Int): Column = {
      val ofRow = col(NetChanges.row).getField(s"c$i")
      if (changes.keys.contains(i)) coalesce(ofRow, col(NetChanges.key).getField(s"c$i")) else ofRow
    }
    val texts = changes.schema.zipWithIndex.map { case (field, i) =>
      PostgresText.of(value(i), field.dataType, field.name).as(s"c$i")
    }
    val columns = (Seq(attempt, goes, comes) ++ table.columns.map(_.sql)).mkString(", ")
    val copy = s"COPY ${table.in(stage)} ($columns) FROM STDIN"
    val stageRows = new StageRows(postgres, copy, table.columns.size, table.zone)
    val rows = net.select(StageRows.columns.map(col) ++ texts: _*)
    executionOf(rows).toRdd.mapPartitions(part => Iterator(stageRows(part))).collect().toSeq
  }

  /**
   * If the answer of a commit is lost with the connection, the retry finds the commit by its
   * number.
   */
  private def merge(
      connection: Connection,
      table: PostgresTable,
      stage: String,
      attempts: Array[Long],
      verdict: Verdict,
      by: AppliedBy): Unit = {
    // An answered commit must hold, also where the server's default is otherwise.
    query(
      connection,
      "SELECT set_config('synchronous_commit', 'on', true) " +
        "WHERE current_setting('synchronous_commit') = 'off'")()(_ => ())
    // One driver at a time: another query may have begun to write to the target meanwhile.
    query(connection, "SELECT pg_advisory_xact_lock(hashtext(?), hashtext(?))")(
      applied,
      s"${table.schema}.${table.name}")(_ => ())
    val _ = update(
      connection,
      s"INSERT INTO ${table.in(applied)} (target, query, batch) VALUES (?, ?, -1) " +
        "ON CONFLICT (target, query) DO NOTHING")(table.name, by.query)
    val has = progressOf(connection, table.schema, table.name, "FOR UPDATE")
    // Those that have not written yet have the number -1.
    if (!has.copy(last = has.last.filter(_._2.batch >= 0)).has(by)) {
      val staged = s"${table.in(stage)} AS s"
      val mine = s"s.$attempt = ANY (?)"
      val count = query(connection, s"SELECT count(*) FROM $staged WHERE $mine")(attempts)(
        _.getLong(1)).head
      // The server truncates unlogged tables when it recovers from a crash.
      if (count != verdict.staged) {
        throw ApplyErrors.stagedRowsLost(postgres.table, verdict.staged, count)
      }
      if (count > 0) {
        run(connection, s"ANALYZE ${table.in(stage)}")
        if (verdict.removed > 0) delete(connection, table, staged, mine, attempts)
        if (verdict.added > 0) add(connection, table, staged, mine, attempts, verdict.added)
        if (verdict.staged > verdict.removed + verdict.added) {
          upsert(connection, table, staged, mine, attempts)
        }
      }
      val _ = update(
        connection,
        s"UPDATE ${table.in(applied)} SET batch = ?, query_id = ?, applied_at = now() " +
          "WHERE target = ? AND query = ?")(by.batch, by.id.orNull, table.name, by.query)
    }
    dropUnlessLocked(connection, table.in(stage), seconds = 5)
  }

  private def delete(
      connection: Connection,
      table: PostgresTable,
      staged: String,
      mine: String,
      attempts: Array[Long]): Unit = {
    val keys = table.keyColumns.map(_.sql)
    def of(condition: String, equal: String): Unit = {
      val same = keys.map(k => s"t.$k $equal s.$k").mkString(" AND ")
      val _ = update(
        connection,
        s"DELETE FROM ${table.qualified} AS t USING $staged " +
          s"WHERE $mine AND s.$goes AND $condition AND $same")(attempts)
    }
    // IS NOT DISTINCT FROM uses no index and no hash join, so only keys with nulls use it.
    of(keys.map(k => s"s.$k IS NOT NULL").mkString(" AND "), "=")
    if (table.nullsAreKeys) {
      of(keys.map(k => s"s.$k IS NULL").mkString("(", " OR ", ")"), "IS NOT DISTINCT FROM")
    }
  }

  /** Inserts rows whose keys the table must not have; a conflict is an error that names the key. */
  private def add(
      connection: Connection,
      table: PostgresTable,
      staged: String,
      mine: String,
      attempts: Array[Long],
      wanted: Long): Unit = {
    val before = connection.setSavepoint()
    val added =
      insert(connection, table, s"$staged WHERE $mine AND s.$comes", "DO NOTHING")(attempts)
    if (added != wanted) {
      connection.rollback(before)
      val keys = table.keyColumns.map(_.sql)
      val same = keys.map(k => s"t.$k IS NOT DISTINCT FROM s.$k").mkString(" AND ")
      val twice = query(
        connection,
        s"SELECT to_jsonb(k)::text FROM (SELECT ${keys.map(k => s"s.$k").mkString(", ")} FROM $staged " +
          s"JOIN ${table.qualified} AS t ON $same WHERE $mine AND s.$comes LIMIT 1) AS k"
      )(attempts)(_.getString(1))
      throw ApplyErrors.notAKey(twice.headOption.getOrElse(""), table.keyColumns.map(_.name))
    }
  }

  private def upsert(
      connection: Connection,
      table: PostgresTable,
      staged: String,
      mine: String,
      attempts: Array[Long]): Unit = {
    val columns = table.columns.map(_.sql)
    val others = columns.diff(table.keyColumns.map(_.sql))
    val action =
      if (others.isEmpty) "DO NOTHING"
      else s"DO UPDATE SET ${others.map(c => s"$c = EXCLUDED.$c").mkString(", ")}"
    val rows = s"$staged WHERE $mine AND NOT s.$goes AND NOT s.$comes"
    val _ = insert(connection, table, rows, action)(attempts)
  }

  private def insert(connection: Connection, table: PostgresTable, rows: String, action: String)(
      attempts: Array[Long]): Int = {
    val columns = table.columns.map(_.sql)
    update(
      connection,
      s"INSERT INTO ${table.qualified} (${columns.mkString(", ")}) " +
        s"SELECT ${columns.map(c => s"s.$c").mkString(", ")} FROM $rows " +
        s"ON CONFLICT (${table.keyColumns.map(_.sql).mkString(", ")}) $action"
    )(attempts)
  }

  /** @param lock the locking clause of the query */
  private def progressOf(
      connection: Connection,
      schema: String,
      name: String,
      lock: String): Progress = {
    val qualified = s"${quoted(schema)}.${quoted(applied)}"
    val exists =
      query(connection, "SELECT to_regclass(?) IS NOT NULL")(qualified)(_.getBoolean(1)).head
    val last =
      if (!exists) Nil
      else {
        query(
          connection,
          s"SELECT query, batch, query_id FROM $qualified WHERE target = ? ORDER BY query $lock")(
          name)(r => r.getString(1) -> Done(r.getLong(2), Option(r.getString(3))))
      }
    Progress(s"$schema.$name", last.toMap)
  }

  private def createProgress(connection: Connection, table: PostgresTable): Unit = {
    val qualified = table.in(applied)
    val exists =
      query(connection, "SELECT to_regclass(?) IS NOT NULL")(qualified)(_.getBoolean(1)).head
    if (!exists) {
      // IF NOT EXISTS alone does not prevent an error if two create the table at the same time.
      run(connection, s"SELECT pg_advisory_xact_lock(hashtext('$applied'))")
      run(
        connection,
        s"""CREATE TABLE IF NOT EXISTS $qualified (
           |  target text, query text, batch bigint NOT NULL, query_id text,
           |  applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (target, query))""".stripMargin
      )
    }
  }

  /** Drops staging tables of dead tries. A task that still writes to one delays this. */
  private def dropLeftOvers(connection: Connection, table: PostgresTable, stem: String): Unit =
    query(
      connection,
      """SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        |WHERE n.nspname = ? AND starts_with(c.relname, ?) AND c.relkind = 'r'""".stripMargin
    )(table.schema, s"${stem}_")(_.getString(1)).foreach { name =>
      dropUnlessLocked(connection, table.in(name), seconds = 30)
    }

  /**
   * A task of a lost executor holds its lock until the server notices. Its table is dropped by a
   * later micro-batch then.
   */
  private def dropUnlessLocked(connection: Connection, table: String, seconds: Int): Unit = {
    run(connection, s"SET LOCAL lock_timeout = '${seconds}s'")
    val before = connection.setSavepoint()
    try run(connection, s"DROP TABLE IF EXISTS $table")
    catch { case e: SQLException if e.getSQLState == notAvailable => connection.rollback(before) }
    run(connection, "SET LOCAL lock_timeout TO DEFAULT")
  }
}

private[sinks] object PostgresTarget {

  // The lock was not available in time.
  private val notAvailable = "55P03"
  private val applied = "firesteel_applied_batches"
  private val stagePrefix = "firesteel_staged"
  private val attempt = "firesteel_attempt"
  private val goes = "firesteel_goes"
  private val comes = "firesteel_comes"

  /** Short: PostgreSQL truncates names at 63 bytes. */
  private def digest(text: String): String =
    UUID.nameUUIDFromBytes(text.getBytes("UTF-8")).toString.replace("-", "").take(16)
}
