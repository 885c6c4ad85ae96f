package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.statements.{SetRecord, StatementQueries}

/**
 * The groups of a set's statements: those of the checkpoint, and one for each way in which further
 * statements begin.
 *
 * @param next the first micro-batch of further statements
 */
final private[rules] class StatementGroups(
    set: StatementQueries,
    record: Option[SetRecord],
    next: Long) {

  private val known =
    record.fold(Map.empty[String, Int])(_.statements.map(its => its.name -> its.group).toMap)

  private val before = record.fold(Seq(SetRecord.Group("", 0L)))(_.groups)

  private val begins =
    if (record.isEmpty) Nil
    else set.names.zip(set.starts).collect { case (name, start) if !known.contains(name) => start }
      .distinct

  val all: Seq[SetRecord.Group] = before ++ begins.map(SetRecord.Group(_, next))

  /** The group of a statement, by its number in the set. */
  def of(statement: Int): Int = known.getOrElse(
    set.names(statement),
    if (record.isEmpty) 0 else before.size + begins.indexOf(set.starts(statement)))
}

private[rules] object StatementGroups {

  /**
   * Whether a set has other statements than its record, or in another order.
   *
   * @throws org.apache.spark.sql.AnalysisException if one has another mode, or is not said to begin
   *   somewhere
   */
  def isEdit(set: StatementQueries, record: SetRecord): Boolean = {
    val modes = record.statements.map(its => its.name -> its.mode).toMap
    val now = set.names.zip(set.modes)
    val fits = now.zip(set.starts).forall { case ((name, mode), start) =>
      modes.get(name).fold(start.nonEmpty)(_ == mode)
    }
    if (!fits) {
      val shown = now.map { case (name, mode) => s"$name ($mode)" }
      throw ChangelogErrors.otherStatements(record.shown, shown)
    }
    set.names != record.statements.map(_.name)
  }
}
