-- room: skew
-- expect: declines SKEW.MANY_GROUPS
SELECT k, sort_array(collect_set(g)) AS gs FROM events GROUP BY k
