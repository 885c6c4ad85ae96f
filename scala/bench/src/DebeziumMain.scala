package io.firesteel.bench

/** A stream of Debezium's events. */
object DebeziumMain extends FigureSuite("debezium", "a stream of Debezium's events") {

  override def parts: Seq[FigurePart] =
    Seq(FigurePart(DebeziumEvents.name, DebeziumEvents.note, new DebeziumEvents(_, _, _, _).run()))
}
