-- Bids of those who sell, too, with the bidder and all of the bidder's auctions.
SELECT
  bidder, price, channel, url, B.extra AS bid_extra,
  P.id AS person_id, name, emailAddress, creditCard, city, state, P.extra AS person_extra,
  itemName, description, initialBid, reserve, A.dateTime AS auction_dateTime, expires, seller,
  category, A.extra AS auction_extra
FROM bid AS B
JOIN person AS P ON P.id = B.bidder
JOIN auction AS A ON A.seller = B.bidder
