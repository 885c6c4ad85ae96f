package io.firesteel.lookup

import io.firesteel.testkit.TimedSuite

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.types.StructType

/** The engine's side of `tests/contracts/python_lookup.json`; `test_lookup_contract.py` is the worker's. */
class PythonContractSuite extends TimedSuite {

  private val mapper = new ObjectMapper()
  private val contract: JsonNode =
    mapper.readTree(Files.readString(Paths.get("tests/contracts/python_lookup.json")))

  test("a registration is read as it is written") {
    val read = PythonLookup.parse(contract.get("registration").toString)
    assert(read == PythonLookup(
      name = "customers",
      udf = "__firesteel_lookup_customers_1",
      partitionUdf = Some("__firesteel_partition_customers_1"),
      deterministic = true,
      schema = StructType.fromDDL("id BIGINT, type STRING, country STRING"),
      keys = Seq("id", "type"),
      partitionKeys = Seq("id"),
      options = Map("lookup.cache" -> "PARTIAL", "lookup.partial-cache.max-rows" -> "1000")
    ))
  }

  test("a request has every field, and no other") {
    val written = WorkerRequest(
      keys = Seq("id", "type"),
      columns = Seq("id", "type", "country"),
      filters = Seq("(country = 'ch')"),
      partitions = Some(4),
      cacheScope = "task",
      options = LookupOptions(
        async = Some(true),
        ordered = true,
        capacity = 8,
        timeoutMillis = 30000L,
        retry = Some(RetryOnMiss(delayMillis = 10L, maxAttempts = 3)),
        shuffle = true,
        cache = CachePolicy.Partial(Some(1000L), Some(60000L), None, cacheMissingKey = false),
        batchSize = 500
      )
    ).json
    assert(mapper.readTree(written).toPrettyString == contract.get("request").toPrettyString)
  }

  test("metrics are the worker's counts, in its order") {
    assert(PythonLookupJoinExec.counts.map(_._1) == texts("stats"))
  }

  private def texts(field: String): Seq[String] =
    Seq.tabulate(contract.get(field).size)(contract.get(field).get(_).asText)
}
