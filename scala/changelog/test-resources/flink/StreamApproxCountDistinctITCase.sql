-- testApproxCountDistinctWithTumbleWindow
SELECT window.start, window.end, approx_count_distinct(g) FROM {timed} GROUP BY window(at,
'5 seconds')

-- testApproxCountDistinctWithHopWindow
SELECT window.start, window.end, approx_count_distinct(g) FROM {timed} GROUP BY window(at,
'10 seconds', '5 seconds')

-- testApproxCountDistinctWithCumulateWindow
SELECT id DIV 15, step, approx_count_distinct(g) FROM {t} LATERAL VIEW explode(array(5, 10, 15))
AS step WHERE id % 15 < step GROUP BY id DIV 15, step

-- testApproxCountDistinctWithDifferentDataTypes
SELECT window.start, window.end, approx_count_distinct(v) FROM {timed} GROUP BY window(at,
'10 seconds')

-- testApproxCountDistinctWithNullValues
SELECT window.start, window.end, approx_count_distinct(k) FROM {timed} GROUP BY window(at,
'10 seconds')

-- testApproxCountDistinctPrecision
SELECT approx_count_distinct(concat(g, i)) FROM {t} LATERAL VIEW explode(sequence(1, 200)) AS i
