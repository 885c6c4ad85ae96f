package io.firesteel.bench

/** Statement sets, beside as many queries side by side. */
object StatementsMain extends FigureSuite("statements", "several statements over one view") {

  override def parts: Seq[FigurePart] =
    Seq(FigurePart(Statements.name, Statements.note, new Statements(_, _, _, _).run()))
}
