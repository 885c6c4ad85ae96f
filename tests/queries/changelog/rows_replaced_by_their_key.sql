-- room: changelog
-- expect: Aggregate
-- expect: Normalize
SELECT g, count(*) AS n, sum(v) AS s FROM from_changelog(
  TABLE(SELECT k, g, v, id, 'u' AS op FROM events), keys => array('k'), sequence_by => 'id') GROUP BY g
