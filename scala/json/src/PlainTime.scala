package io.firesteel.json

/**
 * The usual forms of dates and times, by their digits: `2026-03-01`, and `2026-03-01T12:30:45` with
 * up to six digits of a second. All others are left to Spark's parser.
 *
 * The answer is in fields.
 */
final private[json] class PlainTime {

  private[this] var epochDay = 0
  private[this] var micros = 0L
  private[this] var place = 0

  /** Days since 1970-01-01 of the date that was read last. */
  def days: Int = epochDay

  /** Microseconds since 1970-01-01 of the time that was read last, in its own zone. */
  def localMicros: Long = epochDay * PlainTime.MicrosPerDay + micros

  /** The place after the time that was read last. */
  def end: Int = place

  /** Reads a date of ten characters at `from`. */
  def readDate(bytes: Array[Byte], from: Int, until: Int): Boolean =
    until - from >= 10 && bytes(from + 4) == '-' && bytes(from + 7) == '-' && {
      val (century, years) = (two(bytes, from), two(bytes, from + 2))
      val (month, day) = (two(bytes, from + 5), two(bytes, from + 8))
      // Years below 1600 are left out: only there calendars differ.
      val plain = century >= 16 && years >= 0 && month >= 1 && month <= 12 && day >= 1
      plain && {
        val year = century * 100 + years
        epochDay = PlainTime.epochDay(year, month, day)
        day <= 28 || day <= java.time.YearMonth.of(year, month).lengthOfMonth
      }
    }

  /** Reads a date and a time at `from`, without a zone. */
  def readTime(bytes: Array[Byte], from: Int, until: Int): Boolean =
    until - from >= 19 && (bytes(from + 10) == 'T' || bytes(from + 10) == ' ') &&
      bytes(from + 13) == ':' && bytes(from + 16) == ':' && readDate(bytes, from, until) && {
        val hour = two(bytes, from + 11)
        val (minute, second) = (two(bytes, from + 14), two(bytes, from + 17))
        var at = from + 19
        var fraction = 0L
        var unit = 100000
        if (at < until && bytes(at) == '.') {
          at += 1
          while (at < until && unit > 0 && JsonText.isDigit(bytes(at).toInt)) {
            fraction += (bytes(at) - '0').toLong * unit
            unit /= 10
            at += 1
          }
        }
        place = at
        micros = ((hour * 60L + minute) * 60 + second) * 1000000L + fraction
        hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60 &&
        (at == from + 19 || unit < 100000)
      }

  /** Two digits; negative if they are none. */
  private def two(bytes: Array[Byte], at: Int): Int = {
    val (tens, ones) = (bytes(at) - '0', bytes(at + 1) - '0')
    if (tens < 0 || tens > 9 || ones < 0 || ones > 9) -1 else tens * 10 + ones
  }
}

private[json] object PlainTime {

  private val MicrosPerDay = 86400000000L

  /** Days since 1970-01-01; source: `java.time.LocalDate.toEpochDay`, for years after 0. */
  private def epochDay(year: Int, month: Int, day: Int): Int = {
    val years = year - (if (month <= 2) 1 else 0)
    // Years begin in March, so that a leap day is a year's last day.
    val ofYear = (153 * (month + (if (month > 2) -3 else 9)) + 2) / 5 + day - 1
    years * 365 + years / 4 - years / 100 + years / 400 + ofYear - 719468
  }
}
