package io.firesteel.bench

/** State in memory. */
object StateMain extends FigureSuite("state", "state of a stream in memory") {

  override def parts: Seq[FigurePart] =
    Seq(FigurePart(LargeState.name, LargeState.note, new LargeState(_, _, _, _).run()))
}
