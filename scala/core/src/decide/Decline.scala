package io.firesteel.core.decide

import io.firesteel.core.CoreConf
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/**
 * Why a recognised query was left as Spark plans it.
 *
 * The codes are public: they appear in `firesteel.explain`, in REFERENCE.md and in tests.
 */
trait Decline extends Product with Serializable {

  /** `ROOM.REASON`, such as `RANK.NO_UPPER_BOUND`. */
  def code: String

  /** One sentence for the author of the query. */
  def message: String

  /** The values that decided, by name. */
  def values: Map[String, String] = Map.empty

  /** The setting that would change the decision, if one would. */
  def setting: Option[String] = None
}

object Decline {

  /** What switches a room off, if anything does: firesteel's switch, the room's, a rule's own. */
  def switchedOff(room: String, switches: ConfigEntry[Boolean]*): Option[SwitchedOff] =
    (CoreConf.ENABLED +: switches).collectFirst {
      case switch if !SQLConf.get.getConf(switch) => SwitchedOff(room, switch.key)
    }

  /** Settings leave the room out: the one reason that every room shares. */
  final case class SwitchedOff(room: String, switch: String) extends Decline {
    override def code: String = s"${room.toUpperCase(java.util.Locale.ROOT)}.SWITCHED_OFF"
    override def message: String = s"$switch is false"
    override def values: Map[String, String] = Map(switch -> "false")
    override def setting: Option[String] = Some(switch)
  }
}

/**
 * A reason as the reference page shows it, before any value is known.
 *
 * @param meaning why the query is left alone
 * @param setting the setting that would change the decision, if one would
 * @param cure what the author of the query can do, in one sentence; empty if nothing
 */
final case class DeclineDoc(
    code: String,
    meaning: String,
    setting: Option[String] = None,
    cure: String = "")
