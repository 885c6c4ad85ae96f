-- testLag
SELECT id, lag(g, 1) OVER (PARTITION BY k ORDER BY id) FROM {t}

-- testLagInsertsInBetween
SELECT id, lag(g, 1) OVER (PARTITION BY k ORDER BY v, id) FROM {t}

-- testArrayAgg
SELECT id, array_agg(g) OVER (PARTITION BY k ORDER BY id) FROM {t}

-- testArrayAggInsertsInBetween
SELECT id, array_agg(g) OVER (PARTITION BY k ORDER BY v, id) FROM {t}

-- testBitmapBuildCardinalityInsertsInBetween
SELECT id, bitmap_count(bitmap_construct_agg(bitmap_bit_position(id)) OVER (PARTITION BY k ORDER
BY v, id)) FROM {t}

-- testRetractionsOfInsertInBetween: retractions
SELECT id, array_agg(g) OVER (PARTITION BY k ORDER BY v, id) FROM {t}
