-- testLagFunction
SELECT k, v, g, lag(v) OVER w, lag(v, 2) OVER w, lag(v, 2, 77L) OVER w FROM {t} WINDOW w AS
(PARTITION BY k ORDER BY id)

-- testLeadFunction
SELECT k, v, g, lead(v) OVER w, lead(v, 2) OVER w, lead(v, 2, 77L) OVER w FROM {t} WINDOW w AS
(PARTITION BY k ORDER BY id)

-- testRowNumberOnOver
SELECT k, row_number() OVER (PARTITION BY k ORDER BY current_timestamp()) FROM {t}

-- testDenseRankOnOver
SELECT k, dense_rank() OVER (PARTITION BY k ORDER BY at) FROM {timed}

-- testRankOnOver
SELECT k, rank() OVER (PARTITION BY k ORDER BY at) FROM {timed}

-- testProcTimeBoundedPartitionedRowsOver
SELECT k, sum(v) OVER w, min(v) OVER w FROM {t} WINDOW w AS (PARTITION BY k ORDER BY id ROWS
BETWEEN 4 PRECEDING AND CURRENT ROW)

-- testProcTimeBoundedPartitionedRowsOverWithBulitinProctime
SELECT g, sum(v) OVER w, min(v) OVER w FROM {t} WINDOW w AS (PARTITION BY g ORDER BY id ROWS
BETWEEN 3 PRECEDING AND CURRENT ROW)

-- testProcTimeBoundedPartitionedRowsOverWithBuiltinProctime
SELECT v, sum(k) OVER w, min(k) OVER w FROM {t} WINDOW w AS (PARTITION BY v ORDER BY id ROWS
BETWEEN 2 PRECEDING AND CURRENT ROW)

-- testProcTimeBoundedNonPartitionedRowsOver
SELECT k, first_value(g) OVER w, last_value(g) OVER w, sum(v) OVER w, min(v) OVER w FROM {t}
WINDOW w AS (ORDER BY id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)

-- testProcTimeUnboundedPartitionedRangeOver
SELECT g, first_value(v) OVER w, last_value(v) OVER w, count(k) OVER w, sum(k) OVER w FROM {t}
WINDOW w AS (PARTITION BY g ORDER BY id RANGE UNBOUNDED PRECEDING)

-- testProcTimeUnboundedPartitionedRowsOver
SELECT g, n, nothing FROM (SELECT g, max(CAST(NULL AS STRING)) OVER w AS nothing, sum(1) OVER w AS
n FROM {t} WINDOW w AS (PARTITION BY g ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT
ROW))

-- testProcTimeUnboundedNonPartitionedRangeOver
SELECT g, count(k) OVER w, sum(k) OVER w FROM {t} WINDOW w AS (ORDER BY id RANGE UNBOUNDED
PRECEDING)

-- testProcTimeUnboundedNonPartitionedRowsOver
SELECT array_join(sort_array(collect_set(g) OVER w), '|'), count(k) OVER w FROM {t} WINDOW w AS
(ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)

-- testRowTimeBoundedPartitionedRangeOver
SELECT g, id, count_if(v > 4) OVER w, count(k) OVER w, sum(k) OVER w FROM {timed} AS x WINDOW w AS
(PARTITION BY g ORDER BY at RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW)

-- testRowTimeBoundedPartitionedRowsOver
SELECT g, k, sum_all(array(v, id)) OVER w, count(1) OVER w, sum(k) OVER w FROM {timed} AS x WINDOW
w AS (PARTITION BY g ORDER BY at, id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)

-- testRowTimeBoundedNonPartitionedRangeOver
SELECT g, id, count(k) OVER w, sum(k) OVER w FROM {timed} AS x WINDOW w AS (ORDER BY at RANGE
BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW)

-- testRowTimeBoundedNonPartitionedRowsOver
SELECT g, k, count(k) OVER w, sum(k) OVER w FROM {timed} AS x WINDOW w AS (ORDER BY at, id ROWS
BETWEEN 2 PRECEDING AND CURRENT ROW)

-- testRowTimeUnBoundedPartitionedRangeOver
SELECT k, v, g, sum_all(array(v, id)) OVER w, sum(v) OVER w, count(v) OVER w, avg(v) OVER w,
max(v) OVER w, min(v) OVER w FROM {timed} AS x WINDOW w AS (PARTITION BY k ORDER BY at RANGE
BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)

-- testRowTimeUnBoundedPartitionedRowsOver
SELECT k, v, g, count_if(v > 4) OVER w, sum(v) OVER w, count(v) OVER w, avg(v) OVER w, max(v) OVER
w, min(v) OVER w FROM {timed} AS x WINDOW w AS (PARTITION BY k ORDER BY at, id ROWS BETWEEN
UNBOUNDED PRECEDING AND CURRENT ROW)

-- testRowTimeUnBoundedNonPartitionedRangeOver
SELECT k, v, g, sum(v) OVER w, count(v) OVER w, avg(v) OVER w, max(v) OVER w, min(v) OVER w FROM
{timed} AS x WINDOW w AS (ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)

-- testRowTimeUnBoundedNonPartitionedRowsOver
SELECT k, v, g, sum(v) OVER w, count(v) OVER w, avg(v) OVER w, max(v) OVER w, min(v) OVER w FROM
{timed} AS x WINDOW w AS (ORDER BY at, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)

-- testRowTimeUnBoundedPartitionedRowsOver2
SELECT k, v, g, sum(v) OVER w, count(v) OVER w, avg(v) OVER w, max(v) OVER w, min(v) OVER w FROM
{timed} AS x WINDOW w AS (PARTITION BY g ORDER BY at DESC, id ROWS BETWEEN UNBOUNDED PRECEDING AND
CURRENT ROW)

-- testProcTimeDistinctUnboundedPartitionedRowsOver
SELECT k, count(v) OVER w, aggregate(collect_set(v) OVER w, 0L, (s, x) -> s + x),
array_min(collect_set(v) OVER w) FROM {t} WINDOW w AS (PARTITION BY k ORDER BY id RANGE UNBOUNDED
PRECEDING)

-- testTimestampRowTimeDistinctUnboundedPartitionedRangeOverWithNullValues
SELECT g, k, size(collect_set(g) OVER w), nulls_and_others(g) OVER w FROM (SELECT *, CAST(at AS
TIMESTAMP_NTZ) AS ntz FROM {timed}) AS x WINDOW w AS (PARTITION BY k ORDER BY ntz RANGE UNBOUNDED
PRECEDING)

-- testTimestampLtzRowTimeDistinctUnboundedPartitionedRangeOverWithNullValues
SELECT g, k, size(collect_set(g) OVER w), nulls_and_others(g) OVER w FROM {timed} AS x WINDOW w AS
(PARTITION BY k ORDER BY at RANGE UNBOUNDED PRECEDING)

-- testProcTimeDistinctBoundedPartitionedRowsOver
SELECT k, aggregate(collect_set(v) OVER w, 0L, (s, x) -> s + x), array_min(collect_set(v) OVER w),
sort_array(collect_set(v) OVER w) FROM {t} WINDOW w AS (PARTITION BY k ORDER BY id ROWS BETWEEN 3
PRECEDING AND CURRENT ROW)

-- testProcTimeDistinctPairWithNulls
SELECT k, g, count(struct(k, g)) OVER w, size(collect_set(struct(k, g)) OVER w) FROM {t} WINDOW w
AS (ORDER BY id RANGE UNBOUNDED PRECEDING)

-- testDecimalSum0
SELECT sum(CAST(w AS DECIMAL(38, 18))) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND
CURRENT ROW) FROM {t} WHERE w < 100

-- testPercentile
SELECT one, weighted, several[0], several[1], several[2], mixed[0], mixed[1], mixed[2] FROM
(SELECT percentile(v, 0.5) OVER w AS one, percentile(v, 0.5, k) OVER w AS weighted, percentile(v,
array(0.5, 0.9, 0.3)) OVER w AS several, percentile(v, array(0.5, 0.9, 0.3), k) OVER w AS mixed
FROM {t} WINDOW w AS (ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW))
