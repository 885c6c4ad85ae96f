package io.firesteel.sinks.folder

import io.firesteel.sinks.apply.{AppliedBy, ApplyErrors, ApplyOptions, ChangeSet, NetChanges, Problem, Progress, Target, Verdict}

import java.util.UUID

import scala.annotation.tailrec

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.{Column, DataFrame, Row, SparkSession}
import org.apache.spark.sql.firesteel.{asNullable, Files, ParquetFiles}
import org.apache.spark.sql.functions.{coalesce, col, collect_set, count_if, hash, lit, max, max_by, pmod, struct, sum, to_json, when}
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.types.StructType

/**
 * A folder of Parquet files.
 *
 * Rows are distributed by their keys into buckets. A micro-batch rewrites the buckets whose rows
 * change, then commits a version that names the files of all buckets. A crash before the commit
 * leaves files that no version names. After the commit, the version has the number of the
 * micro-batch.
 */
final private[sinks] class FolderTarget(session: SparkSession, path: String, options: ApplyOptions)
  extends Target {
  import FolderTarget._

  override protected def place: String = path

  private val folder = new Path(path)
  private val log = new FolderLog(folder, Files.hadoopConf(session, Map.empty))
  private val data = new Path(folder, "_data")

  /** The newest version's rows. */
  def read(): BaseRelation = {
    val version = log.newest().getOrElse(throw ApplyErrors.noVersion(path))
    val files = version.files.values.flatten.map(new Path(folder, _)).toSeq
    if (files.isEmpty) new NoRows(session.sqlContext, version.schema)
    else ParquetFiles.relation(session, files, version.schema)
  }

  override protected def progress(): Progress =
    log.newest().fold(Progress(path, Map.empty))(progressOf)

  private def progressOf(version: FolderVersion): Progress = Progress(path, version.last)

  override protected def apply(changes: ChangeSet, by: AppliedBy): Unit = {
    val before = log.newest().getOrElse(first(changes))
    // Another driver may have written meanwhile.
    if (progressOf(before).has(by)) throw ApplyErrors.writtenMeanwhile(path, before.number)
    requireSame(before, changes)
    // One time for both: files that the next version no longer lists must be deleted by then.
    val now = System.currentTimeMillis()
    removeRetired(before, now)
    val own = new Path(data, UUID.randomUUID().toString)
    val staged = stage(changes, before, new Path(own, "_staged"))
    val (verdict, touched) = judge(staged)
    verdict.require(changes, path, nullsAreKeys = true)
    if (verdict.added > 0) requireNew(changes, before, staged, touched)
    val (read, rewritten) = rewriteAll(changes, before, staged, touched, own)
    val end = System.currentTimeMillis()
    val replaced = read.flatMap(before.files.getOrElse(_, Nil)).map(_ -> end)
    val after = before.copy(
      number = before.number + 1,
      files = before.files -- read ++ rewritten,
      retired = before.retired.filterNot(due(_, now)) ++ replaced,
      last = before.last + (by.query -> by.done)
    )
    log.commit(after)
    log.fileSystem.delete(new Path(own, "_staged"), true)
    tidy(after)
  }

  private def first(changes: ChangeSet): FolderVersion = FolderVersion(
    number = -1,
    changes.schema,
    changes.keyNames,
    options.buckets.getOrElse(defaultBuckets),
    files = Map.empty,
    retired = Map.empty,
    last = Map.empty)

  private def requireSame(before: FolderVersion, changes: ChangeSet): Unit = {
    def same(what: String, has: String, wanted: String): Unit =
      if (has != wanted) throw ApplyErrors.otherTable(path, what, has, wanted)
    same("columns", ddl(before.schema), ddl(changes.schema))
    same("keys", before.keys.sorted.mkString(", "), changes.keyNames.sorted.mkString(", "))
    options.buckets.foreach(n => same("buckets", before.buckets.toString, n.toString))
  }

  private def ddl(schema: StructType): String =
    schema.map(f => s"${f.name} ${asNullable(f.dataType).sql}").mkString(", ")

  /** Reads the micro-batch's rows, once. */
  private def stage(changes: ChangeSet, before: FolderVersion, to: Path): DataFrame = {
    val net = NetChanges(changes)
    net.write.parquet(to.toString)
    // Of the keys that were written: `outputTimestampType` may have cut their times.
    ParquetFiles.rows(session, Seq(to), net.schema)
      .withColumn(bucket, bucketOf(before, changes)(col(NetChanges.key).getField(_)))
  }

  /** By the keys in the order in which the table began; the user may name them in another one. */
  private def bucketOf(before: FolderVersion, changes: ChangeSet)(of: String => Column): Column = {
    val places = before.keys.map(name => changes.keys(changes.keyNames.indexOf(name)))
    pmod(hash(places.map(i => of(s"c$i")): _*), lit(before.buckets))
  }

  private def judge(staged: DataFrame): (Verdict, Seq[Int]) = {
    val changed = col(NetChanges.action) =!= NetChanges.nothing
    val row = staged.agg(
      count_if(changed),
      count_if(col(NetChanges.action) === NetChanges.remove),
      count_if(col(NetChanges.action) === NetChanges.add),
      coalesce(max(NetChanges.problem), lit(Problem.none)),
      coalesce(max_by(col(NetChanges.detail), col(NetChanges.problem)), lit("")),
      coalesce(sum(NetChanges.updates), lit(0L)),
      coalesce(sum(NetChanges.befores), lit(0L)),
      collect_set(when(changed, col(bucket)))
    ).head()
    val verdict = Verdict(
      row.getLong(0),
      row.getLong(1),
      row.getLong(2),
      row.getInt(3),
      row.getString(4),
      row.getLong(5),
      row.getLong(6))
    (verdict, row.getSeq[Int](7).sorted)
  }

  /** An insert needs a key that the table does not have. */
  private def requireNew(
      changes: ChangeSet,
      before: FolderVersion,
      staged: DataFrame,
      touched: Seq[Int]): Unit = {
    val had = filesOf(before, touched)
    if (had.nonEmpty) {
      val names = changes.schema.indices.map(i => s"c$i")
      val named = changes.keys.map(i => col(s"k$i").as(changes.schema(i).name))
      staged
        .where(col(NetChanges.action) === NetChanges.add)
        .select(keyColumns(changes): _*)
        .join(
          ParquetFiles.rows(session, had, before.schema).toDF(names: _*),
          sameKey(changes),
          "left_semi")
        .select(to_json(struct(named: _*)))
        .take(1)
        .foreach(key => throw ApplyErrors.notAKey(key.getString(0), changes.keyNames))
    }
  }

  private def filesOf(version: FolderVersion, touched: Seq[Int]): Seq[Path] =
    touched.flatMap(version.files.getOrElse(_, Nil)).map(new Path(folder, _))

  private def keyColumns(changes: ChangeSet): Seq[Column] =
    changes.keys.map(i => col(NetChanges.key).getField(s"c$i").as(s"k$i"))

  private def sameKey(changes: ChangeSet): Column =
    changes.keys.map(i => col(s"c$i") <=> col(s"k$i")).reduce(_ and _)

  /**
   * Rewrites buckets, and others into which rows of these come: keys that were written with another
   * `outputTimestampType` may be of another bucket now. Returns the buckets that were read, and
   * files.
   */
  @tailrec
  private def rewriteAll(
      changes: ChangeSet,
      before: FolderVersion,
      staged: DataFrame,
      touched: Seq[Int],
      to: Path): (Seq[Int], Map[Int, Seq[String]]) = {
    val rewritten: Map[Int, Seq[String]] =
      if (touched.isEmpty) Map.empty else rewrite(changes, before, staged, touched, to)
    val others = (rewritten.keySet -- touched).toSeq
    if (others.isEmpty) (touched, rewritten)
    else {
      log.fileSystem.delete(new Path(to, "rows"), true)
      rewriteAll(changes, before, staged, (touched ++ others).sorted, to)
    }
  }

  /** Rewrites the touched buckets: rows that stay, and new rows. */
  private def rewrite(
      changes: ChangeSet,
      before: FolderVersion,
      staged: DataFrame,
      touched: Seq[Int],
      to: Path): Map[Int, Seq[String]] = {
    val names = changes.schema.indices.map(i => s"c$i")
    val came = staged
      .where(col(NetChanges.action).isin(NetChanges.put, NetChanges.add))
      .select(names.map(n => col(NetChanges.row).getField(n).as(n)): _*)
    val had = filesOf(before, touched)
    val all =
      if (had.isEmpty) came
      else {
        val gone = staged
          .where(col(NetChanges.action) =!= NetChanges.nothing)
          .select(keyColumns(changes): _*)
        ParquetFiles.rows(session, had, before.schema).toDF(names: _*)
          .join(gone, sameKey(changes), "left_anti")
          .union(came)
      }
    all
      .withColumn(bucket, bucketOf(before, changes)(col))
      .repartition(touched.size, col(bucket))
      .select(
        names.zip(changes.schema).map { case (n, field) => col(n).as(field.name) } :+
          col(bucket): _*)
      .write.partitionBy(bucket).parquet(new Path(to, "rows").toString)
    written(new Path(to, "rows"))
  }

  private def written(rows: Path): Map[Int, Seq[String]] = {
    val fs = log.fileSystem
    fs.listStatus(rows).toSeq.filter(_.isDirectory).map { part =>
      val number = part.getPath.getName.stripPrefix(s"$bucket=").toInt
      number -> fs.listStatus(part.getPath).toSeq
        .map(file =>
          s"_data/${rows.getParent.getName}/rows/${part.getPath.getName}/${file.getPath.getName}")
        .filter(_.endsWith(".parquet"))
        .sorted
    }.toMap
  }

  private def due(retired: (String, Long), now: Long): Boolean =
    retired._2 < now - options.retentionMillis

  /**
   * Deletes due files before the next version, which no longer lists them; after a crash in
   * between, the next try deletes them.
   */
  private def removeRetired(version: FolderVersion, now: Long): Unit =
    version.retired.filter(due(_, now)).keys.foreach { file =>
      log.fileSystem.delete(new Path(folder, file), false)
    }

  /**
   * Removes files of dead tries, and old versions. Only after a commit, and while it is the newest:
   * then another writer's try that began before it cannot commit any more.
   */
  private def tidy(version: FolderVersion): Unit =
    if (log.newest().exists(_.number == version.number)) removeDead(version)

  private def removeDead(version: FolderVersion): Unit = {
    val named = (version.files.values.flatten ++ version.retired.keys).map(tryOf).toSet
    val old = System.currentTimeMillis() - options.retentionMillis
    val fs = log.fileSystem
    def abandoned(file: FileStatus) =
      !named.contains(file.getPath.getName) && file.getModificationTime < old
    if (fs.exists(data)) {
      fs.listStatus(data).filter(abandoned).foreach(file => fs.delete(file.getPath, true))
    }
    log.forget(version.number, options.retentionMillis)
  }

  /** The folder of the try that wrote a file. */
  private def tryOf(file: String): String = file.split('/')(1)
}

private[sinks] object FolderTarget {
  private val defaultBuckets = 8

  /** The column by which files are partitioned; it is not part of the table. */
  private val bucket = "firesteel_bucket"
}

/** A table without rows. */
final private[folder] class NoRows(
    override val sqlContext: org.apache.spark.sql.SQLContext,
    override val schema: StructType)
  extends BaseRelation
  with org.apache.spark.sql.sources.TableScan {
  override def buildScan(): org.apache.spark.rdd.RDD[Row] =
    sqlContext.sparkSession.sparkContext.emptyRDD[Row]
}
