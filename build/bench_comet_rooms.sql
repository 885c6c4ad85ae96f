-- table events
SELECT pmod(xxhash64(id, 1), 1000) AS k, xxhash64(id, 4) AS v, hex(xxhash64(id, 6)) AS payload
FROM range(0, 5000000, 1, 8);

-- table hourly
SELECT pmod(xxhash64(id, 1), 1000) AS k,
  timestamp_seconds(1767225600 + pmod(xxhash64(id, 2), 30 * 24 * 3600)) AS ts,
  pmod(xxhash64(id, 3), 1000) AS v
FROM range(0, 5000000, 1, 8);

-- table numbers
SELECT pmod(xxhash64(id, 1), 1000) AS k, xxhash64(id, 2) AS a, xxhash64(id, 3) AS b,
  pmod(xxhash64(id, 4), 100) AS v
FROM range(0, 5000000, 1, 8);

-- table documents
SELECT to_json(named_struct('id', id, 'name', concat('customer-', id % 1000),
  'price', pmod(xxhash64(id, 1), 100000) / 100, 'address', named_struct('city',
  concat('city ', id % 77), 'street', concat('street ', id % 999), 'zip', id % 99999),
  'tags', array('new', concat('tag-', id % 10)), 'note', repeat(hex(xxhash64(id, 2)), 12))) AS j
FROM range(0, 1000000, 1, 8);

-- Top-10 of each of 1,000 keys
SELECT k, v, payload, rn FROM
  (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM events) WHERE rn <= 10;

-- sliding window, a day by an hour
SELECT k, window.start AS start, sum(v) AS s, count(*) AS n FROM hourly
GROUP BY k, window(ts, '1 day', '1 hour');

-- two distinct counts and a sum
SELECT k, count(DISTINCT a) AS da, count(DISTINCT b) AS db, sum(v) AS s FROM numbers GROUP BY k;

-- percentile
SELECT k, percentile(a, 0.5) AS p FROM numbers GROUP BY k;

-- median
SELECT k, median(a) AS p FROM numbers GROUP BY k;

-- percentile_cont
SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS p FROM numbers GROUP BY k;

-- size of collect_list, for comparison
SELECT k, size(collect_list(a)) AS n FROM numbers GROUP BY k;

-- from_json, three fields
SELECT s.id, s.price, s.address.city FROM (SELECT from_json(j,
  'id BIGINT, price DOUBLE, address STRUCT<city: STRING, street: STRING>') AS s FROM documents);

-- three get_json_object
SELECT get_json_object(j, '$.id'), get_json_object(j, '$.price'),
  get_json_object(j, '$.address.city') FROM documents;
