package io.firesteel.changelog

import io.firesteel.changelog.checkpoint.FinishRepartition
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.rules.{ExplainStreams, PlanChangelog, ReadFromStart, RewriteStreamSubqueries, RewriteStreamingWrite}
import io.firesteel.changelog.sql.{FromChangelogFunction, FromDebeziumFunction, RemoveSnapshot, RemoveStateTtl, ResolveFromChangelog, ResolveMultiJoin, ResolveStateTtl, RowKindFunction, SnapshotFunction}
import io.firesteel.changelog.statements.{ReadStatement, ResolveStatements, StatementSetFunction, StatementSetParser}
import io.firesteel.changelog.upsert.{FromUpsertFunction, ResolveToUpsert, ToUpsertFunction}
import io.firesteel.changelog.windows.{ReadWindowFunctions, ResolveWindowFunctions}
import io.firesteel.core.parse.AsDelegate
import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Check, Function, Hints, Optimizer, Parser, PlanNormalization, Planner, PostHocResolution, Resolution, TableFunction}

/** Streaming queries whose results change. */
object ChangelogRoom
  extends Room(
    name = "changelog",
    settings = ChangelogConf.all,
    declines = Nil,
    injections = Seq(
      Parser((_, delegate) => AsDelegate(new StatementSetParser(delegate), delegate)),
      Function(RowKindFunction.description),
      TableFunction(FromChangelogFunction.description),
      TableFunction(FromDebeziumFunction.description),
      TableFunction(FromUpsertFunction.description),
      TableFunction(ToUpsertFunction.description),
      TableFunction(SnapshotFunction.description),
      TableFunction(StatementSetFunction.description),
      // These run before Spark checks a streaming query.
      Hints(_ => ResolveStateTtl),
      Hints(_ => ResolveMultiJoin),
      Hints(_ => RewriteStreamingWrite),
      // This runs before Spark looks up the functions that a call names.
      Hints(_ => ReadWindowFunctions),
      Resolution(_ => ResolveWindowFunctions),
      Resolution(_ => ResolveFromChangelog),
      Resolution(_ => ResolveToUpsert),
      Resolution(_ => ResolveStatements),
      Resolution(_ => RemoveStateTtl),
      Resolution(_ => RemoveSnapshot),
      // This runs before Spark refuses a stream in a subquery.
      PostHocResolution(_ => RewriteStreamSubqueries),
      // This runs before Spark reads the checkpoint of a query that starts.
      Check(FinishRepartition.atStart),
      // This changes the first micro-batch of statements that came into a set later.
      PlanNormalization(new ReadFromStart(_)),
      // This changes only plans that `df.explain()` asks for.
      PlanNormalization(_ => ExplainStreams),
      // This runs in what the targets of a set do with a micro-batch.
      Optimizer(new ReadStatement(_)),
      Planner(_ => PlanChangelog)
    )
  )
