-- Which price did each seller's auctions reach on average, each with the ten before it?
SELECT
  Q.seller,
  avg(Q.price) OVER (
    PARTITION BY Q.seller ORDER BY Q.dateTime ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price
FROM (
  SELECT *, row_number() OVER (PARTITION BY id, seller ORDER BY price DESC) AS rownum
  FROM (
    SELECT A.id, A.seller, B.price, B.dateTime
    FROM auction AS A
    JOIN bid AS B ON A.id = B.auction
    WHERE B.dateTime BETWEEN A.dateTime AND A.expires)) AS Q
WHERE Q.rownum <= 1
