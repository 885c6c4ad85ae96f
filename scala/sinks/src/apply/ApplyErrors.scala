package io.firesteel.sinks.apply

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}

/** The errors of this room. Nothing of the micro-batch was applied to the target. */
private[sinks] object ApplyErrors {

  def badOption(option: String, value: String, expected: String): Throwable =
    analysis("BAD_OPTION", "option" -> option, "value" -> value, "expected" -> expected)

  def missingOption(option: String): Throwable = analysis("MISSING_OPTION", "option" -> option)

  def unknownOption(option: String, known: Seq[String]): Throwable =
    analysis("UNKNOWN_OPTION", "option" -> option, "known" -> known.mkString(", "))

  def noColumn(column: String, columns: Seq[String]): Throwable =
    analysis("NO_COLUMN", "column" -> column, "columns" -> columns.mkString(", "))

  def noKindColumn(columns: Seq[String]): Throwable =
    analysis("NO_KIND_COLUMN", "columns" -> columns.mkString(", "))

  def noQuery(): Throwable = analysis("NO_QUERY")

  def otherBatch(wanted: Long, running: String): Throwable =
    analysis("OTHER_BATCH", "given" -> wanted.toString, "running" -> running)

  def batchBehind(target: String, query: String, batch: Long, last: Long): Throwable =
    running(
      "BATCH_BEHIND",
      "target" -> target,
      "query" -> query,
      "batch" -> batch.toString,
      "last" -> last.toString)

  def otherCheckpoint(
      target: String,
      query: String,
      batch: Long,
      id: Option[String],
      last: Long,
      other: String): Throwable =
    running(
      "OTHER_CHECKPOINT",
      "target" -> target,
      "query" -> query,
      "batch" -> batch.toString,
      "id" -> id.getOrElse(""),
      "last" -> last.toString,
      "other" -> other)

  def twice(target: String, query: String, batch: Long): Throwable =
    running(
      "TWICE",
      "target" -> target,
      "query" -> query,
      "batch" -> batch.toString)

  def otherQuery(target: String, query: String, others: Seq[String]): Throwable =
    running(
      "OTHER_QUERY",
      "target" -> target,
      "query" -> query,
      "others" -> others.sorted.mkString(", "))

  def unknownKind(kind: String): Throwable = running("UNKNOWN_KIND", "kind" -> kind)

  def notAKey(key: String, keys: Seq[String]): Throwable =
    running("NOT_A_KEY", "key" -> key, "keys" -> keys.mkString(", "))

  def noOrder(key: String): Throwable = running("NO_ORDER", "key" -> key)

  def otherKeys(keys: Seq[String], others: Seq[Seq[String]]): Throwable =
    analysis(
      "OTHER_KEYS",
      "keys" -> keys.mkString(", "),
      "others" -> others.map(_.mkString("(", ", ", ")")).mkString(" or "))

  def noUpdateBefore(): Throwable = running("NO_UPDATE_BEFORE")

  def nullKey(key: String, target: String, keys: Seq[String]): Throwable =
    running("NULL_KEY", "key" -> key, "target" -> target, "keys" -> keys.mkString(", "))

  def unsupportedType(column: String, sqlType: String): Throwable =
    analysis("UNSUPPORTED_TYPE", "column" -> column, "type" -> sqlType)

  def noDriver(driver: String): Throwable = analysis("NO_DRIVER", "driver" -> driver)

  def noTable(table: String): Throwable = analysis("NO_TABLE", "table" -> table)

  def noUniqueKey(table: String, keys: String): Throwable =
    analysis("NO_UNIQUE_KEY", "table" -> table, "keys" -> keys)

  def stagedRowsLost(target: String, wanted: Long, found: Long): Throwable =
    running(
      "STAGED_ROWS_LOST",
      "target" -> target,
      "wanted" -> wanted.toString,
      "found" -> found.toString)

  def databaseFailed(url: String, table: String, reason: String, cause: Throwable): Throwable =
    new FiresteelException(
      "FIRESTEEL_APPLY_DATABASE_FAILED",
      Map("url" -> url, "table" -> table, "reason" -> reason),
      Some(cause))

  def otherTable(folder: String, what: String, has: String, wanted: String): Throwable =
    analysis("OTHER_TABLE", "folder" -> folder, "what" -> what, "has" -> has, "wanted" -> wanted)

  def noVersion(folder: String): Throwable = analysis("NO_VERSION", "folder" -> folder)

  def writtenMeanwhile(folder: String, version: Long): Throwable =
    running("WRITTEN_MEANWHILE", "folder" -> folder, "version" -> version.toString)

  private def analysis(reason: String, parameters: (String, String)*): Throwable =
    new FiresteelAnalysisException(s"FIRESTEEL_APPLY_$reason", parameters.toMap)

  private def running(reason: String, parameters: (String, String)*): Throwable =
    new FiresteelException(s"FIRESTEEL_APPLY_$reason", parameters.toMap)
}
