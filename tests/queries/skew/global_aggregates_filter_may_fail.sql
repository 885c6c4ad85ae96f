-- room: skew
-- expect: declines SKEW.MERGE_FILTER_MAY_FAIL
SELECT * FROM
  (SELECT count(*) AS a FROM events WHERE k > 3 AND (k = 5 OR 10 / (k - 5) > 1)) AS one,
  (SELECT count(*) AS b FROM events WHERE g = '1') AS other
