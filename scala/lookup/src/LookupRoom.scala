package io.firesteel.lookup

import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Check, Hints, Parser, Planner, PreCBO, Resolution, TableFunction}

/** Lookup joins. */
object LookupRoom
  extends Room(
    name = "lookup",
    settings = LookupConf.all,
    declines = Nil,
    injections = Seq(
      // Flink's LOOKUP hint and time columns; any other text is passed to Spark's parser unchanged.
      Parser((_, delegate) => new LookupParser(delegate)),
      TableFunction(PythonLookupFunction.description),
      // Before Spark resolves relations.
      Hints(session => new ResolveLookupHint(session)),
      Resolution(_ => ResolveLookupTable),
      Check(session => plan => CheckLookupJoin(session)(plan)),
      PreCBO(_ => LiftOffDimension),
      // The last one handles relations that no join has taken, and raises the error.
      Planner(_ => UnpruneByLookup),
      Planner(_ => PlanLookupJoin),
      Planner(_ => RefuseBareLookup)
    )
  )
