package io.firesteel.lookup.files

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}

/** Errors of `firesteel-files`. Each names the value, and says what to do next. */
private[files] object FilesErrors {

  def unknownOption(name: String, known: Seq[String]): Throwable =
    analysis("UNKNOWN_OPTION", "option" -> name, "known" -> known.mkString(", "))

  def missingOption(name: String): Throwable = analysis("MISSING_OPTION", "option" -> name)

  def invalidOption(name: String, value: String, expected: String): Throwable =
    analysis("INVALID_OPTION", "option" -> name, "value" -> value, "expected" -> expected)

  def unsupportedTable(table: String, reason: String): Throwable =
    analysis("UNSUPPORTED_TABLE", "table" -> table, "reason" -> reason)

  def noFolder(folder: String): Throwable = analysis("NO_FOLDER", "folder" -> folder)

  def subfolder(folder: String): Throwable = analysis("SUBFOLDER", "folder" -> folder)

  def noSchema(folder: String): Throwable = analysis("NO_SCHEMA", "folder" -> folder)

  def noBucketId(file: String): Throwable = analysis("NO_BUCKET_ID", "file" -> file)

  def bucketOutOfRange(file: String, bucket: String, buckets: Int): Throwable =
    analysis(
      "BUCKET_OUT_OF_RANGE",
      "file" -> file,
      "bucket" -> bucket,
      "buckets" -> buckets.toString,
      "last" -> (buckets - 1).toString)

  def wrongBucket(file: String, row: Long, bucket: Int, layout: BucketLayout): Throwable =
    running(
      "WRONG_BUCKET",
      "file" -> file,
      "row" -> row.toString,
      "bucket" -> bucket.toString,
      "columns" -> layout.bucketColumns.mkString(", "),
      "buckets" -> layout.buckets.toString
    )

  def noMemory(bucket: Int, folder: String, held: Long, wanted: Long, free: Long): Throwable =
    running(
      "NO_MEMORY",
      "bucket" -> bucket.toString,
      "folder" -> folder,
      "held" -> held.toString,
      "wanted" -> wanted.toString,
      "free" -> free.toString)

  private def analysis(condition: String, parameters: (String, String)*): Throwable =
    new FiresteelAnalysisException(s"FIRESTEEL_LOOKUP_FILES_$condition", parameters.toMap)

  private def running(condition: String, parameters: (String, String)*): Throwable =
    new FiresteelException(s"FIRESTEEL_LOOKUP_FILES_$condition", parameters.toMap)
}
