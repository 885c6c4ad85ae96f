-- Which bids are on one auction of 123?
SELECT auction, price
FROM bid
WHERE mod(auction, 123) = 0
