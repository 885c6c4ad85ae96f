package io.firesteel.bench

/** Joins of streams. */
object JoinsMain extends FigureSuite("joins", "joins of streams") {

  override def parts: Seq[FigurePart] = Seq(
    FigurePart(ManyJoins.name, ManyJoins.note, new ManyJoins(_, _, _, _).run()),
    FigurePart(HotKey.name, HotKey.note, new HotKey(_, _, _, _).run()),
    FigurePart(LastBatches.name, LastBatches.note, new LastBatches(_, _, _, _).run())
  )
}
