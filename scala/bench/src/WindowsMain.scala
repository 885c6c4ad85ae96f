package io.firesteel.bench

/** Long sliding windows of streams, beside stock Spark and Apache Flink. */
object WindowsMain extends FigureSuite("windows", "long sliding windows on a stream") {

  override def parts: Seq[FigurePart] = Seq(
    FigurePart(WindowSums.name, WindowSums.note, new WindowSums(_, _, _, _).run()),
    FigurePart(WindowDistincts.name, WindowDistincts.note, new WindowDistincts(_, _, _, _).run())
  )
}
