package io.firesteel.bench

import java.nio.file.{Files, Path}
import java.sql.Timestamp
import java.time.Instant
import java.util.SplittableRandom

import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSession}
import org.apache.spark.sql.types.StructType

/**
 * The events of Nexmark, a house of auctions: of 50 events the first is a new person, three are new
 * auctions and the others bids.
 *
 * An event depends on its number and the seed alone, so any part of a table can be made by itself.
 * Times ascend with the number, in milliseconds. Some are hot: the first of a hundred auctions has
 * half of the bids, the first of a hundred people three of four auctions, and the second three of
 * four bids. All others are chosen among the newest, and a few that come later.
 *
 * Source: the generator of https://github.com/nexmark/nexmark, by its proportions and ratios.
 *
 * @param perSecond events in a second of event time; below 1000 no two have the same time
 * @param inFlight auctions that begin while an auction is open, on average
 */
final case class NexmarkEvents(
    perSecond: Int = 10000,
    inFlight: Int = 100,
    seed: Long = 1,
    start: Instant = Instant.parse("2026-01-01T23:59:30Z")) {

  import NexmarkEvents._

  /** The rows of a table among the events from one number until another. */
  def table(
      spark: SparkSession,
      name: String,
      from: Long,
      until: Long,
      partitions: Int = 1): DataFrame = {
    val kind = kinds(name)
    val make: Long => Row = name match {
      case "person" => person
      case "auction" => auction
      case "bid" => bid
    }
    spark.range(kind.before(from), kind.before(until), 1, partitions)
      .map((row: java.lang.Long) => make(row))(Encoders.row(schemas(name))).toDF()
  }

  private def time(event: Long): Instant = start.plusMillis(event * 1000 / perSecond)

  private def random(event: Long): SplittableRandom = new SplittableRandom((seed << 40) + event)

  private def person(number: Long): Row = {
    val event = kinds("person").event(number)
    val r = random(event)
    Row(
      firstId + number,
      s"${one(r, firstNames)} ${one(r, lastNames)}",
      s"${text(r, 7)}@${text(r, 5)}.com",
      Seq.fill(4)(f"${r.nextInt(10000)}%04d").mkString(" "),
      one(r, cities),
      one(r, states),
      Timestamp.from(time(event)),
      extra(r, 130)
    )
  }

  private def auction(number: Long): Row = {
    val event = kinds("auction").event(number)
    val r = random(event)
    val people = event / cycle
    val seller = if (r.nextInt(4) > 0) hot(people) else recent(r, people, activePeople)
    val (begins, initialBid) = (time(event), price(r))
    val average = inFlight * cycle / kinds("auction").of * 1000 / perSecond // milliseconds
    Row(
      firstId + number,
      text(r, 3 + r.nextInt(17)),
      text(r, 3 + r.nextInt(97)),
      initialBid,
      initialBid + price(r),
      Timestamp.from(begins),
      Timestamp.from(begins.plusMillis(1 + r.nextLong(math.max(2 * average, 1L)))),
      firstId + seller,
      firstCategory + r.nextInt(5),
      extra(r, 390)
    )
  }

  private def bid(number: Long): Row = {
    val event = kinds("bid").event(number)
    val r = random(event)
    val (people, auctions) = (event / cycle, event / cycle * kinds("auction").of + 2)
    val auction = if (r.nextInt(2) > 0) hot(auctions) else recent(r, auctions, inFlight.toLong)
    val bidder = if (r.nextInt(4) > 0) hot(people) + 1 else recent(r, people, activePeople)
    val hotChannel = r.nextInt(2) > 0
    val channel = r.nextInt(if (hotChannel) channels.size else 10000)
    Row(
      firstId + auction,
      firstId + bidder,
      price(r),
      if (hotChannel) channels(channel) else s"channel-$channel",
      if (hotChannel) address(-1L - channel) else addressWithId(channel.toLong),
      Timestamp.from(time(event)),
      extra(r, 68)
    )
  }
}

object NexmarkEvents {

  /** Names and columns, as the definition has them. */
  val schemas: Map[String, StructType] = Map(
    "person" -> ("id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, " +
      "state STRING, dateTime TIMESTAMP, extra STRING"),
    "auction" -> ("id BIGINT, itemName STRING, description STRING, initialBid BIGINT, " +
      "reserve BIGINT, dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, " +
      "extra STRING"),
    "bid" -> ("auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, " +
      "dateTime TIMESTAMP, extra STRING")
  ).map { case (name, columns) => name -> StructType.fromDDL(columns) }

  /** How late `dateTime` may be. */
  val delay = "4 seconds"

  /** The text of a query over the three tables; q13 also reads `side_input`. */
  def sql(query: String): String = Files.readString(Path.of(s"tests/queries/nexmark/$query.sql"))

  /** The table that q13 joins. */
  def sideInput(spark: SparkSession): DataFrame =
    spark.range(0, 10000, 1, 1).selectExpr("id AS key", "concat('value-', id) AS value")

  private val cycle = 50L
  private val firstId = 1000L
  private val firstCategory = 10L
  private val activePeople = 1000L

  private val firstNames = Vector("Ada", "Ben", "Carla", "Dan", "Eva", "Finn", "Gina", "Hugo")
  private val lastNames = Vector("Adams", "Berg", "Costa", "Duval", "Evans", "Fischer", "Green")
  private val cities = Vector("Phoenix", "Fresno", "Boise", "Bend", "Seattle", "Cheyenne")
  private val states = Vector("AZ", "CA", "ID", "OR", "WA", "WY")
  private val channels = Vector("Google", "Facebook", "Baidu", "Apple")

  /** `of` events of each cycle, from the `first` on. */
  private case class Kind(first: Int, of: Int) {
    def event(row: Long): Long = row / of * cycle + first + row % of

    /** Rows before an event. */
    def before(event: Long): Long =
      event / cycle * of + (event % cycle - first).max(0L).min(of.toLong)
  }

  private val kinds = Map("person" -> Kind(0, 1), "auction" -> Kind(1, 3), "bid" -> Kind(4, 46))

  private def hot(last: Long): Long = last / 100 * 100

  /** One of the `active` newest before `last`, or one of ten that come after it. */
  private def recent(r: SplittableRandom, last: Long, active: Long): Long =
    math.max(last - active, 0L) + r.nextLong(math.min(last, active) + 11)

  private def price(r: SplittableRandom): Long = math.round(math.pow(10, r.nextDouble() * 6) * 100)

  private def one(r: SplittableRandom, of: Vector[String]): String = of(r.nextInt(of.size))

  private def text(r: SplittableRandom, length: Int): String = {
    val letters = new Array[Char](length)
    letters.indices.foreach(i => letters(i) = ('a' + r.nextInt(26)).toChar)
    new String(letters)
  }

  /** Text that makes rows as long as the definition has them, by a fifth more or less. */
  private def extra(r: SplittableRandom, average: Int): String =
    text(r, average * 4 / 5 + r.nextInt(average * 2 / 5))

  /** A channel always has the same address. */
  private def address(channel: Long): String = {
    val r = new SplittableRandom(channel)
    val folders = Seq.fill(3)(text(r, 5)).mkString("/")
    s"https://www.nexmark.com/$folders/item.htm?query=1"
  }

  /** One channel in ten has an address without its id. */
  private def addressWithId(channel: Long): String =
    if (channel % 10 == 0) address(channel) else s"${address(channel)}&channel_id=$channel"
}
