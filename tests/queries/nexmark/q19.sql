-- Which ten bids of each auction are the highest, in their order?
SELECT *
FROM (
  SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
  FROM bid)
WHERE rank_number <= 10
