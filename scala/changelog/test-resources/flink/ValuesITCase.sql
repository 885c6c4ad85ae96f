-- testValues
SELECT n, s FROM {a}, (VALUES (1, 'rye'), (1, 'oats')) AS x(n, s)
