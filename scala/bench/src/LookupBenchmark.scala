package io.firesteel.bench

import io.firesteel.bench.LookupMeasure.{Needs, RequestsPerThousand, RowsPerCore, Times}
import io.firesteel.bench.LookupQueries.{generated, lookup, partial, stock, uniform, zipf}

import org.apache.spark.sql.SparkSession

/**
 * The cases of the lookup room.
 *
 * Targets were set before anything was measured. A case without a target shows the cost of a lookup
 * that is the wrong choice.
 */
final class LookupBenchmark(sizes: LookupSizes, servers: LookupServers) {

  private val cores = 2
  private val tasks = 4

  def all: Seq[LookupCase] =
    Seq(postgres, cached, async, sharded("zipf"), sharded("uniform"), files, python) ++ badCases

  private def atLeast(measure: Measure, value: Double) = Target(measure, Bound.AtLeast(value))
  private def atMost(measure: Measure, value: Double) = Target(measure, Bound.AtMost(value))

  private def orders(keys: Long, stride: Long): Table = Table(
    "orders",
    sizes.rows,
    Seq("seq" -> "id", "customer" -> s"${uniform(keys)} * $stride"))

  private def customers(rows: Long): Table = Table("customers", rows, Customers.columns)

  private def postgres: LookupCase = LookupCase(
    name = "postgres",
    title = "PostgreSQL, 1 % of its customers",
    note = f"${sizes.rows}%,d orders over ${sizes.keys}%,d of ${sizes.customers}%,d customers. " +
      "Stock is `spark.read.jdbc` with two partitions by id and a fetch size of 10,000, and a " +
      "join. The server shares the machine's two cores.",
    rows = sizes.rows,
    place = Place.Local,
    contestants = Seq(
      stock("stock", "orders", "customers_read"),
      lookup("PARTIAL", "orders", "customers_asked", partial(1000000))),
    once = Seq(lookup("no cache", "orders", "customers_asked", Nil)),
    targets = Seq(
      atMost(RequestsPerThousand("no cache", sizes.rows), 5),
      atLeast(Times("stock", "PARTIAL"), 2)),
    versus = Some("stock" -> "PARTIAL"),
    tables = Seq(orders(sizes.keys, sizes.stride)),
    prepare = readAndAsked(sizes.customers),
    warmUps = 0
  )

  /** The table of the database as Spark reads it, and as it is looked up. */
  private def readAndAsked(customers: Long)(spark: SparkSession): Unit = {
    val options = servers.postgres.options(s"customers_$customers")
    val partitioned = Map(
      "fetchsize" -> "10000",
      "partitionColumn" -> "id",
      "lowerBound" -> "0",
      "upperBound" -> customers.toString,
      "numPartitions" -> cores.toString)
    spark.read.format("jdbc").options(options ++ partitioned).load()
      .createOrReplaceTempView("customers_read")
    spark.read.format("firesteel-jdbc").options(options).load()
      .createOrReplaceTempView("customers_asked")
  }

  private def cached: LookupCase = {
    val keys = math.max(sizes.keys / 2, 1)
    LookupCase(
      name = "cached",
      title = "in memory, all cached",
      note = f"${sizes.rows}%,d orders over $keys%,d customers. FULL is a plain table under " +
        "the hint; PARTIAL has to fill its cache first, one question per 1,000 keys.",
      rows = sizes.rows,
      place = Place.Local,
      contestants = Seq(
        stock("broadcast", "orders", "customers", hint = "/*+ BROADCAST(c) */ "),
        lookup("FULL", "orders", "customers", Nil),
        lookup("PARTIAL", "orders", "bench.memory", partial(1000000))
      ),
      targets = Seq(
        atLeast(RowsPerCore("FULL", sizes.rows, cores), 1e6),
        atMost(Times("FULL", "broadcast"), 1.3),
        atLeast(RowsPerCore("PARTIAL", sizes.rows, cores), 1e6)),
      versus = Some("broadcast" -> "PARTIAL"),
      tables = Seq(orders(keys, 1), customers(keys)),
      warmUps = 2
    )
  }

  private def async: LookupCase = {
    val stream = generated(sizes.oneByOne, cores, "id")
    LookupCase(
      name = "async",
      title = "a store of 2 ms, async against sync",
      note = f"${sizes.oneByOne}%,d orders, all of different customers, one request each, no " +
        "cache; capacity as by default.",
      rows = sizes.oneByOne,
      place = Place.Local,
      contestants = Seq(
        lookup("sync", stream, "bench.slow_one_by_one", Nil),
        lookup("async", stream, "bench.slow", Nil)),
      targets = Seq(atLeast(Times("sync", "async"), 5)),
      versus = Some("sync" -> "async")
    )
  }

  private def sharded(keysAre: String): LookupCase = {
    val isZipf = keysAre == "zipf"
    val (rows, keys) =
      if (isZipf) (sizes.zipfRows, sizes.zipfKeys) else (sizes.uniformRows, sizes.uniformKeys)
    val stream = generated(rows, tasks, if (isZipf) zipf(keys) else uniform(keys))
    // Pending requests act as a cache too. There must be fewer of them than cached entries.
    val asked = partial(keys / 10) :+ ("capacity" -> "20")
    def by(name: String, table: String, shuffle: Boolean) =
      lookup(name, stream, table, asked :+ ("shuffle" -> shuffle.toString), fourTasks)
    val fewer = Needs("requests", "no shuffle", "custom", _.total(LookupMeasure.requests))
    LookupCase(
      name = s"store-$keysAre",
      title = s"a store of 2 ms, cache of 10 % of the keys, $keysAre keys",
      note = f"$rows%,d orders over $keys%,d customers on four executors, each cache with " +
        f"${keys / 10}%,d customers. " + (
          if (isZipf) "The n-th customer orders one n-th as often as the first."
          else "All customers order equally often: of four caches of 10 %, a custom shuffle " +
            "makes one of 40 %, so that 90 % of misses become 60 %, and no more can be had."
        ),
      rows = rows,
      place = Place.Cluster,
      contestants = Seq(
        by("no shuffle", "bench.slow", shuffle = false),
        by("hash", "bench.slow_unsharded", shuffle = true),
        by("custom", "bench.slow", shuffle = true)),
      targets = if (isZipf) Seq(atLeast(fewer, 2)) else Nil,
      versus = Some("no shuffle" -> "custom")
    )
  }

  /** As many shards as executors. Spark would coalesce a hash shuffle into one task. */
  private val fourTasks: Map[String, String] = Map(
    "spark.sql.shuffle.partitions" -> tasks.toString,
    "spark.sql.adaptive.coalescePartitions.enabled" -> "false")

  private def files: LookupCase = {
    val table = Table(
      "customers_in_buckets",
      sizes.bucketed,
      Customers.columns,
      buckets = Some(Buckets(16, by = "id", sortedBy = "region")))
    val stream = generated(sizes.bucketed / 2, tasks, uniform(sizes.bucketed))
    def less(what: String, amount: Run => Long) =
      atLeast(Needs(s"$what of a task", "no shuffle", "custom", amount), 3)
    LookupCase(
      name = "files",
      title = "files in 16 buckets, 4 tasks",
      note = f"${sizes.bucketed / 2}%,d orders over ${sizes.bucketed}%,d customers on four " +
        "executors; nothing is kept between runs.",
      rows = sizes.bucketed / 2,
      place = Place.Cluster,
      contestants = Seq(
        stock("stock", stream, table.name, fourTasks),
        lookup("no shuffle", stream, "bucketed", Nil, fourTasks),
        lookup("custom", stream, "bucketed", Seq("shuffle" -> "true"), fourTasks)
      ),
      targets = Seq(
        less("bytes read", _.most(LookupMeasure.bytesRead)),
        less("rows loaded", _.most(LookupMeasure.rowsLoaded)),
        less("peak memory", _.peakMemoryBytes)),
      versus = Some("no shuffle" -> "custom"),
      tables = Seq(table),
      prepare = _.read
        .format("firesteel-files")
        .option("table", table.name)
        .option("idle-time", "0s")
        .load()
        .createOrReplaceTempView("bucketed")
    )
  }

  private def python: LookupCase = {
    val rows = LookupBenchmark.pythonRows(sizes.rows)
    LookupCase(
      name = "python",
      title = "a connector in Python, all cached",
      note = f"$rows%,d rows over ${LookupBenchmark.pythonKeys}%,d customers, by " +
        "`build/bench_lookup.py`; two workers, each with a cache of its own to fill.",
      rows = rows,
      place = Place.Python,
      contestants = Seq(Contestant("Python", "", Map.empty)),
      targets = Seq(atLeast(RowsPerCore("Python", rows, cores), 150000)),
      versus = None
    )
  }

  private def badCases: Seq[LookupCase] = {
    val distinct = generated(sizes.distinct, cores * 4, "id")
    Seq(
      LookupCase(
        name = "small-dimension",
        title = "PostgreSQL, all of a small table",
        note = f"${sizes.rows}%,d orders over all of ${sizes.keys}%,d customers: reading the " +
          "table whole is what to do, and FULL does it.",
        rows = sizes.rows,
        place = Place.Local,
        contestants = Seq(
          stock("stock", "orders", "customers_read"),
          lookup("FULL", "orders", "customers_asked", Seq("lookup.cache" -> "FULL")),
          lookup("PARTIAL", "orders", "customers_asked", partial(1000000))
        ),
        targets = Nil,
        versus = Some("stock" -> "PARTIAL"),
        tables = Seq(orders(sizes.keys, 1)),
        prepare = readAndAsked(sizes.keys)
      ),
      LookupCase(
        name = "distinct-keys",
        title = "in memory, every key distinct, no cache",
        note = f"${sizes.distinct}%,d orders of as many customers; stock joins with a Parquet " +
          "table of them.",
        rows = sizes.distinct,
        place = Place.Local,
        contestants = Seq(
          stock("stock", distinct, "customers"),
          lookup("no cache", distinct, "bench.memory", Nil)),
        targets = Nil,
        versus = Some("stock" -> "no cache"),
        tables = Seq(customers(sizes.distinct))
      ),
      LookupCase(
        name = "tiny",
        title = "in memory, 1,000 rows in all",
        note = "The cost of planning and starting tasks.",
        rows = 1000,
        place = Place.Local,
        contestants = Seq(
          stock("stock", generated(1000, 1, uniform(100)), "customers"),
          lookup("PARTIAL", generated(1000, 1, uniform(100)), "bench.memory", partial(100))),
        targets = Nil,
        versus = Some("stock" -> "PARTIAL"),
        tables = Seq(customers(100)),
        warmUps = 5
      )
    )
  }
}

object LookupBenchmark {

  /** The arguments of `build/bench_lookup.py`. */
  def pythonRows(rows: Long): Long = rows / 2
  val pythonKeys: Long = 10000
}
