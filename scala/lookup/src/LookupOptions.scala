package io.firesteel.lookup

import java.time.{LocalTime, OffsetTime}
import java.time.format.DateTimeParseException
import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.internal.SQLConf

/** How long answers of the store are kept. */
private[lookup] sealed trait CachePolicy extends Serializable

private[lookup] object CachePolicy {
  case object NoCache extends CachePolicy { override def toString: String = "NONE" }

  /**
   * Keeps the most recently used answers, by key.
   *
   * @param maxRows most keys; times are in milliseconds
   */
  final case class Partial(
      maxRows: Option[Long],
      expireAfterWrite: Option[Long],
      expireAfterAccess: Option[Long],
      cacheMissingKey: Boolean)
    extends CachePolicy {
    override def toString: String = "PARTIAL"
  }

  /** Keeps the whole table, loaded before the first row and again as `reload` says. */
  final case class Full(reload: Reload) extends CachePolicy {
    override def toString: String = "FULL"
  }
}

/** When a FULL cache is loaded again. */
private[lookup] sealed trait Reload extends Serializable

private[lookup] object Reload {

  /** For each batch query and each micro-batch. */
  case object EveryBatch extends Reload { override def toString: String = "every micro-batch" }

  /** `fromStart`: the interval counts from the start of a load instead of its end. */
  final case class Periodic(intervalMillis: Long, fromStart: Boolean) extends Reload {
    override def toString: String =
      s"${if (fromStart) "FIXED_RATE" else "FIXED_DELAY"}, ${intervalMillis}ms"
  }

  /** At a time of day, ISO as written, every given number of days. */
  final case class Timed(isoTime: String, days: Int) extends Reload {
    override def toString: String = s"at $isoTime, every ${if (days == 1) "day" else s"$days days"}"
  }
}

/** More attempts for keys without rows. */
private[lookup] final case class RetryOnMiss(delayMillis: Long, maxAttempts: Int)

/** The options of one join. */
private[lookup] final case class LookupOptions(
    async: Option[Boolean],
    ordered: Boolean,
    capacity: Int,
    timeoutMillis: Long,
    retry: Option[RetryOnMiss],
    shuffle: Boolean,
    cache: CachePolicy,
    batchSize: Int)

/**
 * Reads options by Flink's names (hints page of Flink 2.3, FLIP-221), from a hint or a connector.
 * An unknown name is an error, unlike in Flink.
 */
private[lookup] object LookupOptions {

  private val retryNames =
    Seq("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")

  val hintNames: Seq[String] =
    Seq("async", "output-mode", "capacity", "timeout", "shuffle") ++ retryNames

  val cacheNames: Seq[String] = Seq(
    "lookup.cache",
    "lookup.batch-size",
    "lookup.partial-cache.max-rows",
    "lookup.partial-cache.expire-after-write",
    "lookup.partial-cache.expire-after-access",
    "lookup.partial-cache.cache-missing-key",
    "lookup.full-cache.reload-strategy",
    "lookup.full-cache.periodic-reload.interval",
    "lookup.full-cache.periodic-reload.schedule-mode",
    "lookup.full-cache.timed-reload.iso-time",
    "lookup.full-cache.timed-reload.interval-in-days"
  )

  private val names = hintNames ++ cacheNames

  /** Refuses unknown names. The hint's own rule reads `table`. */
  def check(written: Iterable[String]): Unit =
    written.find(name => !names.contains(name) && name != "table").foreach { name =>
      throw LookupErrors.unknownOption(name, "table" +: names)
    }

  /**
   * @param written options by name in lower case; a hint's override the connector's
   * @param fullByDefault for a dimension that can only be loaded whole
   */
  def of(written: Map[String, String], conf: SQLConf, fullByDefault: Boolean): LookupOptions = {
    check(written.keys)
    val options = new Reader(written)
    LookupOptions(
      async = options.boolean("async"),
      ordered = options.oneOf("output-mode", "ordered", "allow_unordered").forall(_ == "ordered"),
      capacity = options.positive("capacity").getOrElse(conf.getConf(LookupConf.CAPACITY)),
      timeoutMillis = options.duration("timeout").getOrElse(conf.getConf(LookupConf.TIMEOUT)),
      retry = retry(options),
      shuffle = options.boolean("shuffle").getOrElse(false),
      cache = cache(options, fullByDefault),
      batchSize =
        options.positive("lookup.batch-size").getOrElse(conf.getConf(LookupConf.BATCH_SIZE))
    )
  }

  /**
   * An option of a cache that the join does not have, and what to add to it: somebody expects an
   * effect of it.
   */
  def unused(hinted: Set[String], cache: CachePolicy): Option[(String, String)] = {
    def unless(prefix: String, isUsed: Boolean, cure: String): Option[(String, String)] =
      if (isUsed) None else hinted.toSeq.sorted.find(_.startsWith(prefix)).map(_ -> cure)
    val reload = cache match {
      case full: CachePolicy.Full => Some(full.reload)
      case _ => None
    }
    val isTimed = reload.exists(_.isInstanceOf[Reload.Timed])
    unless(
      "lookup.partial-cache.",
      cache.isInstanceOf[CachePolicy.Partial],
      "'lookup.cache'='PARTIAL'")
      .orElse(unless("lookup.full-cache.", reload.nonEmpty, "'lookup.cache'='FULL'"))
      .orElse(unless(
        "lookup.full-cache.timed-reload.",
        isTimed,
        "'lookup.full-cache.reload-strategy'='TIMED'"))
      .orElse(unless(
        "lookup.full-cache.periodic-reload.",
        reload.exists(_.isInstanceOf[Reload.Periodic]),
        if (isTimed) "'lookup.full-cache.reload-strategy'='PERIODIC'"
        else
          "'lookup.full-cache.periodic-reload.interval'='10 min'"
      ))
  }

  private def retry(options: Reader): Option[RetryOnMiss] = {
    val (present, absent) = retryNames.partition(options.written.contains)
    if (present.nonEmpty && absent.nonEmpty) throw LookupErrors.incompleteRetry(present, absent)
    for {
      _ <- options.oneOf("retry-predicate", "lookup_miss")
      _ <- options.oneOf("retry-strategy", "fixed_delay")
      delay <- options.duration("fixed-delay", least = 0L)
      attempts <- options.positive("max-attempts")
    } yield RetryOnMiss(delay, attempts)
  }

  private def cache(options: Reader, fullByDefault: Boolean): CachePolicy = {
    val default = if (fullByDefault) "full" else "none"
    options.oneOf("lookup.cache", "none", "partial", "full").getOrElse(default) match {
      case "none" => CachePolicy.NoCache
      case "partial" => partial(options)
      case "full" => CachePolicy.Full(reload(options))
    }
  }

  private def partial(options: Reader): CachePolicy = {
    val policy = CachePolicy.Partial(
      options.upTo("lookup.partial-cache.max-rows", Long.MaxValue),
      options.duration("lookup.partial-cache.expire-after-write"),
      options.duration("lookup.partial-cache.expire-after-access"),
      options.boolean("lookup.partial-cache.cache-missing-key").getOrElse(true)
    )
    val bounds = Seq(policy.maxRows, policy.expireAfterWrite, policy.expireAfterAccess)
    if (bounds.forall(_.isEmpty)) throw LookupErrors.unboundedCache()
    policy
  }

  private def reload(options: Reader): Reload = {
    val interval = options.duration("lookup.full-cache.periodic-reload.interval")
    val time = options.time("lookup.full-cache.timed-reload.iso-time")
    val fromStart = options
      .oneOf("lookup.full-cache.periodic-reload.schedule-mode", "fixed_delay", "fixed_rate")
      .contains("fixed_rate")
    options.oneOf("lookup.full-cache.reload-strategy", "periodic", "timed") match {
      case Some("timed") =>
        val days = options.positive("lookup.full-cache.timed-reload.interval-in-days").getOrElse(1)
        Reload.Timed(
          time.getOrElse(throw LookupErrors.missingOption(
            "lookup.full-cache.timed-reload.iso-time",
            "'lookup.full-cache.reload-strategy'='TIMED'",
            "10:15")),
          days
        )
      case Some(_) if interval.isEmpty =>
        throw LookupErrors.missingOption(
          "lookup.full-cache.periodic-reload.interval",
          "'lookup.full-cache.reload-strategy'='PERIODIC'",
          "10 min")
      case _ => interval.fold[Reload](Reload.EveryBatch)(Reload.Periodic(_, fromStart))
    }
  }

  /** Reads values. An error names the wrong value and the allowed ones. */
  private final class Reader(val written: Map[String, String]) {

    def boolean(name: String): Option[Boolean] = oneOf(name, "true", "false").map(_ == "true")

    def oneOf(name: String, allowed: String*): Option[String] = written.get(name).map { value =>
      val known = value.trim.toLowerCase(Locale.ROOT)
      if (allowed.contains(known)) known
      else throw LookupErrors.badOption(name, value, allowed.mkString("one of ", ", ", ""))
    }

    def positive(name: String): Option[Int] = upTo(name, Int.MaxValue).map(_.toInt)

    def upTo(name: String, most: Long): Option[Long] = written.get(name).map { value =>
      Try(value.trim.toLong).toOption
        .filter(number => number > 0 && number <= most)
        .getOrElse(
          throw LookupErrors.badOption(name, value, s"a positive whole number up to $most"))
    }

    /**
     * In milliseconds, at least `least`: a shorter time would be cut to zero, so no question could
     * be answered in time and no cache would keep a row.
     */
    def duration(name: String, least: Long = 1L): Option[Long] = written.get(name).map { value =>
      Durations
        .millis(value)
        .filter(millis => millis >= least && millis <= Durations.longest)
        .getOrElse(throw LookupErrors.badOption(
          name,
          value,
          s"a time from ${least}ms to 36500d, such as 500ms, 10s or 3 min"))
    }

    /** A time of day as written: `10:15` in the driver's zone, `10:15Z`, `10:15+07:00`. */
    def time(name: String): Option[String] = written.get(name).map { value =>
      try {
        val _ = DayTime.parse(value)
        value
      } catch {
        case _: DateTimeParseException =>
          throw LookupErrors.badOption(name, value, "a time of day such as 10:15, 10:15Z")
      }
    }
  }
}

/** Times as Flink and Spark write them. */
private[lookup] object Durations {

  private val written = """(\d+)\s*([a-zA-Zµ]*)""".r

  private val factors: Map[String, Double] = Seq(
    1e-6 -> Seq("ns", "nano", "nanos", "nanosecond", "nanoseconds"),
    1e-3 -> Seq("us", "µs", "micro", "micros", "microsecond", "microseconds"),
    1.0 -> Seq("", "ms", "milli", "millis", "millisecond", "milliseconds"),
    1e3 -> Seq("s", "sec", "secs", "second", "seconds"),
    60e3 -> Seq("m", "min", "mins", "minute", "minutes"),
    3600e3 -> Seq("h", "hour", "hours"),
    86400e3 -> Seq("d", "day", "days")
  ).flatMap { case (factor, units) => units.map(_ -> factor) }.toMap

  /** A hundred years, in milliseconds. A longer time does not fit into nanoseconds. */
  val longest: Long = 36500L * 86400L * 1000L

  /** In milliseconds; a bare number is milliseconds, as in Flink. */
  def millis(text: String): Option[Long] = text.trim match {
    case written(number, unit) =>
      for {
        amount <- Try(number.toLong).toOption
        factor <- factors.get(unit.toLowerCase(Locale.ROOT))
      } yield (amount * factor).toLong
    case _ => None
  }
}

/** A time of day, in its own zone or the driver's. */
private[lookup] object DayTime {
  import java.time.ZoneId

  def parse(text: String): Either[LocalTime, OffsetTime] =
    Try(OffsetTime.parse(text)).toOption.toRight(LocalTime.parse(text))

  /** The last moment of this time of day at or before `now`, in milliseconds. */
  def lastBefore(text: String, now: Long): Long = {
    val instant = java.time.Instant.ofEpochMilli(now)
    val today = parse(text) match {
      case Left(local) => instant.atZone(ZoneId.systemDefault()).`with`(local)
      case Right(offset) => instant.atZone(offset.getOffset).`with`(offset.toLocalTime)
    }
    val last = if (today.toInstant.isAfter(instant)) today.minusDays(1) else today
    last.toInstant.toEpochMilli
  }
}
