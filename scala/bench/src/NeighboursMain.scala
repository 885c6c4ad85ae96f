package io.firesteel.bench

/** Operators of streams without shuffles between them, which share a store. */
object NeighboursMain extends FigureSuite("neighbours", "operators of one key on a stream") {

  override def parts: Seq[FigurePart] = Seq(
    FigurePart(Neighbours.name, Neighbours.note, new Neighbours(_, _, _, _).run()),
    FigurePart(SmallNeighbours.name, SmallNeighbours.note, new SmallNeighbours(_, _, _, _).run())
  )
}
