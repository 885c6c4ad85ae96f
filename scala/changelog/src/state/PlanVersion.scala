package io.firesteel.changelog.state

/**
 * Versions of how queries are read as operators. A checkpoint has the operators that its first
 * micro-batch had, so it keeps the version that it began with. The record of each operator has it;
 * [[BegunPlan]] reads it.
 */
private[changelog] object PlanVersion {

  /** The version of records without one, and of checkpoints without records. */
  val first: Int = 1

  /** Conditions that all parts of an `OR` share may be keys of a join. */
  val commonConditions: Int = 2

  /** Conditions of a filter may join one changing stream with several tables, one by one. */
  val orderedTables: Int = 3

  /**
   * The watermark takes rows of interval joins and sessions out of state, and late rows are
   * dropped.
   */
  val closedRows: Int = 4

  /** Operators may be distributed as their readers are, see `Placement`. */
  val placements: Int = 5

  /** Aggregates over overlapping windows may be over panes, see `Panes`. */
  val panes: Int = 6

  /** What a query computes several times may be a shared part, see `FindShared`. */
  val sharedParts: Int = 7

  /** The watermark takes the groups of sessions out of state, too. */
  val closedSessions: Int = 8

  /** A limit of a limit takes rows in the order of that one, see `SortedLimits`. */
  val nestedLimits: Int = 8

  /** `NOT IN` has keys, see `SpreadNotIn`. */
  val spreadNotIn: Int = 9

  /** A ranking of few places in windows keeps these rows only, see `ReadWindows`. */
  val firstOfWindows: Int = 9

  /**
   * An aggregate by `SESSION` keeps a group for each session, not its rows, see `FoldedSessions`.
   */
  val foldedSessions: Int = 10

  /** Operators over closed windows read one aggregate where two are the same, see `SameInputs`. */
  val sameInputs: Int = 10

  /** Grouping sets and unions of windows that close are theirs. */
  val windowSets: Int = 10

  /** `NOT IN` leaves rows in their task if they have an upsert key without its value. */
  val notInKeepsKeys: Int = 10

  /**
   * Operators out of whose state a time to live or the watermark takes entries share stores, too.
   */
  val sweptStores: Int = 11

  /** An average of short decimals is rounded as Spark's, see `ShortDecimals`. */
  val shortDecimals: Int = 12

  /** Values of a table beside a stream are one for all statements of a set, see `Varying`. */
  val valuesOfTables: Int = 12

  /**
   * Windows are found below hints, subqueries over tables, `LATERAL` and joins whose condition
   * stands in `WHERE`, and in unions of other windows that have closed.
   */
  val windowsBelow: Int = 13

  /** `a = b OR (a IS NULL AND b IS NULL)` is a key of a join, see `CommonConditions`. */
  val nullSafeKeys: Int = 13

  /** Records say of which side of a join a column is, and what is kept of a table. */
  val textsOfSides: Int = 13

  /** Of several upsert keys state has the one whose columns come first, see `ColumnFacts`. */
  val keysByPlace: Int = 13

  /** The watermark closes times of rows of `from_changelog`, which may be retracted. */
  val changingTimes: Int = 13

  /** A value of a table beside one of a stream has one match, and rows without one stay. */
  val singleMatches: Int = 13

  /**
   * `ORDER BY` in subqueries, hints of placement, `dropDuplicates`, `UNION` with a table,
   * subqueries in `ON` and watermarks on tables of changes are read, see `ParseQuery`.
   */
  val moreForms: Int = 13

  /** Rows in an order are no shared part, which would lose it. */
  val orderedParts: Int = 14

  /** Marks of pipes and of functions in SQL are no operators. */
  val marks: Int = 14

  /** A column of a view is the one below, see `ViewColumns`. */
  val viewColumns: Int = 14

  /** Panes are those of the windows that are asked for, and sessions beside windows merge. */
  val ownPanes: Int = 14

  /** `(SELECT a + b)`, a value of the row alone, is computed from the row. */
  val rowSubqueries: Int = 14

  /** Values that differ each time are one over repeated micro-batches for a statement alone, too. */
  val valuesOfOne: Int = 15

  /**
   * A condition stands below the side that an outer, semi or anti join preserves, and `STATE_TTL`
   * finds an input of a join below what keeps no state, see `WhereBelow` and `SideTtl`.
   */
  val whereBelow: Int = 15

  /**
   * TUMBLE and the like of a time that closes later than its value do not answer once, at-once panes of
   * rows that change are closed, an order or a hint of placement may stand below windows, and
   * `window_time` bounds a join, see `ReadWindows` and `TimeBounds`.
   */
  val laterTimes: Int = 15

  /**
   * Of a condition with a subquery over a table the other parts stand below it, and `NOT` above `IN`
   * is in it, as in Spark's optimizer. A value of a table that counts no rows is 0. See
   * `KeptSubqueries`.
   */
  val settledSubqueries: Int = 16

  /** `LEFT JOIN LATERAL explode(...) ON true` has a row for no element, see `LateralRows`. */
  val paddedLateral: Int = 16

  /** The values of a session's variables are in the record, see `QueryText`. */
  val variables: Int = 16

  /** A limit of each row's own rows is in their order, which a derived table may have. */
  val orderedLimits: Int = 16

  /** Equal rows are in one order for all functions of a window, see `OverWindow`. */
  val numberedCopies: Int = 16

  /** The watermark takes rows that change out of the state of joins by their times. */
  val closedChanges: Int = 16

  /** Conditions with users' functions stay above joins and groups, so that these are called once. */
  val usersFunctionsAbove: Int = 16

  /** What conditions of a join imply of one input stands below the join, see `ImpliedConditions`. */
  val impliedConditions: Int = 17

  /**
   * Values that are deterministic for Spark and yet differ in a repeated micro-batch are one, and so are
   * those above `row_kind()`, see `Varying`.
   */
  val repeatedValues: Int = 17

  /** Changing windows whose groups close by another time are no panes, which would not close. */
  val otherTimes: Int = 17

  /** A time that an update may move does not bound a join, see `EventTime.moves`. */
  val movedTimes: Int = 17

  /** Rows that change do not leave the state of joins in complete mode. */
  val openTables: Int = 17

  /** A session at once stays for a gap after its end: a row that is not late may join it. */
  val stayingSessions: Int = 18

  /** Records tell rows that a generator or a join with a table keeps, and what reads a shared part. */
  val tellsReaders: Int = 19

  /** `STATE_TTL('c' = ...)` holds for joins with tables and for DISTINCT, too. */
  val ttlOfInputs: Int = 19

  /** What all readers of a part ask of its keys stands below it, see `ReadersBelow`. */
  val readersBelow: Int = 19

  /** A `TIME` in the key of a record of `to_upsert` has its fraction. */
  val fractionsOfKeys: Int = 19

  /** A condition behind a user's function is not asked below the groups that it reads. */
  val guardsOfUsers: Int = 19

  /** The rows of a join are joined again for a join above it by the same keys, see `JoinsAgain`. */
  val joinsAgain: Int = 20

  /** Records have the conditions on rows of `from_changelog` without keys, which may be retracted. */
  val conditionsOfSources: Int = 20

  /** Constants do not leave out operators below a filter or a join, see `ConstantConditions`. */
  val hiddenConstants: Int = 20

  /** `STATE_TTL('t' = ...)` holds for grouping sets, panes and groups over generators, too. */
  val ttlOfGroups: Int = 20

  /** A `-U` without a newer row of its key ends a version of a temporal join, as a `-D` does. */
  val endedVersions: Int = 21

  /** `UNION ALL` of rows of open windows of different grids is one input of what is above it. */
  val otherGrids: Int = 21

  /** Rows of a limit with an order have it for a limit above them, or the query is refused. */
  val limitsOrder: Int = 21

  val current: Int = limitsOrder
}

/**
 * What a query chose when it began; its checkpoint keeps it.
 *
 * @param removesShuffles whether needless shuffles are removed, see `Placement`
 * @param byPartialKey whether operators are distributed by some of their keys for their readers
 * @param sharesStores whether operators without a shuffle between them share a store, see
 *   `GuestExec`
 * @param mixesScans whether operators that scan their keys share stores with others that do not
 * @param panesFrom the smallest number of windows per row from which aggregates are over panes, where
 *   there is a choice; 0 if none is
 * @param sharesParts whether a part with state that the query reads several times is computed once
 * @param tiesByKeys whether all functions of a window order rows that tie by the bytes of the keys of
 *   the partition and then of the other columns; before, only the first did
 */
final private[changelog] case class PlanChoices(
    removesShuffles: Boolean,
    byPartialKey: Boolean,
    sharesStores: Boolean,
    mixesScans: Boolean,
    panesFrom: Long,
    sharesParts: Boolean = false,
    tiesByKeys: Boolean = false) {

  def usesPanes: Boolean = panesFrom > 0L
}

private[changelog] object PlanChoices {
  val none: PlanChoices =
    PlanChoices(
      removesShuffles = false,
      byPartialKey = false,
      sharesStores = false,
      mixesScans = false,
      panesFrom = 0L)
}
