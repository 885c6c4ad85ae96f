-- testSimpleProject
SELECT k, g FROM {t}

-- testProjectWithoutInputRef
SELECT count(*) FROM {t}

-- testNestedProject
SELECT id, deep.one.s AS s, flat.n AS n, deep.`two.`.f AS f, deep.`two.`.m + deep.one.`n.` AS m,
low FROM (SELECT id, named_struct('one', named_struct('s', g, 'n.', v), 'two.', named_struct('m',
k, 'f', v > 1)) AS deep, named_struct('s', 'x', 'n', d) AS flat, named_struct('xs', array(k, v),
'nth', map('last', 1)) AS item, lower(g) AS low FROM {t})

-- testNestedProjectWithItem
SELECT item.xs[item.nth['last']] FROM (SELECT id, named_struct('one', named_struct('s', g, 'n.',
v), 'two.', named_struct('m', k, 'f', v > 1)) AS deep, named_struct('s', 'x', 'n', d) AS flat,
named_struct('xs', array(k, v), 'nth', map('last', 1)) AS item, lower(g) AS low FROM {t})

-- testTableSourceWithFilterable
SELECT id, v, g FROM {t} WHERE v > 1 AND d < 2

-- testTableSourceWithFunctionFilterable
SELECT id, v, g FROM {t} WHERE v > 1 AND d < 2 AND upper(g) = 'MILK'

-- testAllDataTypes
SELECT v > 1, CAST(v AS TINYINT), CAST(v AS SMALLINT), CAST(v AS INT), v, CAST(d AS FLOAT), d,
try_cast(w AS DECIMAL(5, 2)), CAST(g AS VARCHAR(5)), CAST(g AS CHAR(5)), date_from_unix_date(k),
CAST(timestamp_millis(v) AS TIMESTAMP_NTZ), timestamp_micros(v), array(v, id), struct(v, g, d),
map('k', k), CAST(g AS BINARY) FROM {t}
