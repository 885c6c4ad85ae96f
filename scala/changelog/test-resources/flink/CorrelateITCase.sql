-- testUdtfForSameFieldofDifferentSource
SELECT k, s FROM {a}, LATERAL explode(split(g, 'a')) AS u(s) UNION ALL SELECT ck, s FROM {c},
LATERAL explode(split(cg, 'a')) AS u(s)

-- testConstantTableFunc
SELECT s FROM {a}, LATERAL explode(array('x', 'y')) AS u(s)

-- testConstantTableFunc2
SELECT s FROM {a}, LATERAL explode(split('oats,rye', ',')) AS u(s)

-- testConstantTableFunc3
SELECT k, v, g, s FROM {a}, LATERAL explode(split('oats,rye', ',')) AS u(s)

-- testConstantNonDeterministicTableFunc
SELECT length(s) FROM {a} LATERAL VIEW explode(array(if(rand() < 0.5, 'oats', 'bran'))) u AS s

-- testConstantNonDeterministicTableFunc2
SELECT k, v, g, length(s) FROM {a} LATERAL VIEW explode(array(if(rand() < 0.5, 'oats', 'bran'))) u
AS s

-- testUdfIsOpenedAfterUdtf
SELECT k, s FROM {a}, LATERAL explode(split(g, 'a')) AS u(s) WHERE is_even(length(s))

-- testMultipleCorrelate
SELECT k, v, s FROM (SELECT ck AS k, cv AS v, cg AS g FROM {c}), LATERAL explode(split(g, ',')) AS
u(s);
SELECT ck, cg, s FROM {c}, LATERAL explode(split(CAST(cv AS STRING), '1')) AS u(s)

-- testMultipleEvals
SELECT struct(k, v) AS d, e FROM {a}, LATERAL explode(filter(array(struct(k, v)), p -> p.k > 9))
AS u(e)

-- testReUsePerRecord
SELECT * FROM (SELECT ck, s FROM {c}, LATERAL explode(split(cg, ',')) AS u(s)) WHERE
date_add(DATE'3018-06-10', length(s)) > current_date()

-- testLeftJoinWithEmptyOutput
SELECT * FROM {c} LEFT JOIN LATERAL explode(filter(split(cg, ','), s -> s <> '')) AS u(s)

-- testProjectCorrelateInput
SELECT s FROM {c}, LATERAL explode(split(cg, ',')) AS u(s)

-- testPartialProjectCorrelate
SELECT ck, s FROM {c}, LATERAL explode(split(cg, ',')) AS u(s)

-- testProjectCorrelateInputWithEmptyOutput
SELECT s FROM {c}, LATERAL explode(filter(split(cg, ','), s -> s <> '')) AS u(s)

-- testLeftJoinProjectCorrelateInputWithEmptyOutput
SELECT s FROM {c} LEFT JOIN LATERAL explode(filter(split(cg, ','), s -> s <> '')) AS u(s)

-- testPartialProjectWithEmptyOutput
SELECT ck, s FROM {c}, LATERAL explode(filter(split(cg, ','), s -> s <> '')) AS u(s)

-- testLeftJoinPartialProjectWithEmptyOutput
SELECT cv, s FROM {c} LEFT JOIN LATERAL explode(filter(split(cg, ','), s -> s <> '')) AS u(s)
