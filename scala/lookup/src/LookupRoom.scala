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
      // Flink's LOOKUP hint and time columns; any other text goes to Spark's parser untouched.
      Parser((_, delegate) => new LookupParser(delegate)),
      TableFunction(PythonLookupFunction.description),
      // Before relations are resolved, which Spark does only afterwards.
      Hints(session => new ResolveLookupHint(session)),
      Resolution(_ => ResolveLookupTable),
      Check(session => plan => CheckLookupJoin(session)(plan)),
      PreCBO(_ => LiftOffDimension),
      // The last is about relations that no join has taken, and gives the error.
      Planner(_ => UnpruneByLookup),
      Planner(_ => PlanLookupJoin),
      Planner(_ => RefuseBareLookup)
    )
  )
