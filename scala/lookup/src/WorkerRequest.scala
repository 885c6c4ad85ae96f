package io.firesteel.lookup

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * The request that a Python worker reads with the keys of a lookup join.
 *
 * `tests/contracts/python_lookup.json` has every field. The worker's side is `request.py`.
 *
 * @param keys columns to look up by
 * @param columns columns that the query reads
 * @param filters conditions on the dimension alone, as SQL
 * @param partitions the number of partitions of a custom shuffle
 */
private[lookup] final case class WorkerRequest(
    keys: Seq[String],
    columns: Seq[String],
    filters: Seq[String],
    partitions: Option[Int],
    cacheScope: String,
    options: LookupOptions) {

  def json: String = {
    val node = new ObjectMapper().createObjectNode()
    def names(field: String, values: Seq[String]): Unit = {
      val array = node.putArray(field)
      values.foreach(array.add(_))
    }
    def number(field: String, value: Option[Long]): Unit = {
      val _ = value.fold(node.putNull(field))(node.put(field, _))
    }
    names("keys", keys)
    names("columns", columns)
    names("filters", filters)
    node.put("custom_shuffle", partitions.isDefined)
    node.put("num_partitions", partitions.getOrElse(0))
    node.put("cache_scope", cacheScope)
    node.put("cache", options.cache.toString)
    val partial = Some(options.cache).collect { case policy: CachePolicy.Partial => policy }
    number("max_rows", partial.flatMap(_.maxRows))
    number("expire_after_write_ms", partial.flatMap(_.expireAfterWrite))
    number("expire_after_access_ms", partial.flatMap(_.expireAfterAccess))
    node.put("cache_missing_key", partial.forall(_.cacheMissingKey))
    node.put("batch_size", options.batchSize)
    node.put("timeout_ms", options.timeoutMillis)
    node.put("async", options.async.getOrElse(false))
    node.put("capacity", options.capacity)
    node.put("max_attempts", options.retry.fold(0)(_.maxAttempts))
    node.put("fixed_delay_ms", options.retry.fold(0L)(_.delayMillis))
    node.toString
  }
}
