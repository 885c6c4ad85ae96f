package io.firesteel.core.decide

import io.firesteel.core.CoreConf
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/**
 * The reason why a rule declined a query that it recognises.
 *
 * The codes are public: `firesteel.explain`, REFERENCE.md and tests show them.
 */
trait Decline extends Product with Serializable {

  /** `ROOM.REASON`, such as `RANK.NO_UPPER_BOUND`. */
  def code: String

  /** One sentence for the author of the query. */
  def message: String

  /** The values that decided, by name. */
  def values: Map[String, String] = Map.empty

  /** The setting that would change the decision, if there is one. */
  def setting: Option[String] = None

  /** What the author of the query can do, in one sentence; empty if nothing. */
  def cure: String = ""

  /** The reason as the reference page shows it, if its message holds before any value is known. */
  final def doc: DeclineDoc = DeclineDoc(code, message, setting, cure)
}

object Decline {

  /** The switch that turns a room off, if any: firesteel's, the room's, or the rule's own. */
  def switchedOff(room: String, switches: ConfigEntry[Boolean]*): Option[SwitchedOff] =
    (CoreConf.ENABLED +: switches).collectFirst {
      case switch if !SQLConf.get.getConf(switch) => SwitchedOff(room, switch.key)
    }

  /** A switch is off: the only reason that all rooms share. */
  final case class SwitchedOff(room: String, switch: String) extends Decline {
    override def code: String = s"${room.toUpperCase(java.util.Locale.ROOT)}.SWITCHED_OFF"
    override def message: String = s"$switch is false"
    override def values: Map[String, String] = Map(switch -> "false")
    override def setting: Option[String] = Some(switch)
  }

  /**
   * The same reason for the reference page.
   *
   * @param switch the room's own switch
   * @param more further switches of the room, by what they are for
   */
  def switchedOffDoc(
      room: String,
      switch: ConfigEntry[Boolean],
      more: (String, ConfigEntry[Boolean])*): DeclineDoc = DeclineDoc(
    SwitchedOff(room, switch.key).code,
    "The room is switched off.",
    Some(switch.key),
    s"Set `${CoreConf.ENABLED.key}` and `${switch.key}` to `true`" +
      more.map { case (subject, its) => s"; for $subject also `${its.key}`" }.mkString + "."
  )
}

/**
 * A reason as the reference page shows it, without values.
 *
 * @param meaning why the rule declines the query
 * @param setting the setting that would change the decision, if there is one
 * @param cure the user's remedy, in one sentence; empty if there is none
 */
final case class DeclineDoc(
    code: String,
    meaning: String,
    setting: Option[String] = None,
    cure: String = "")
