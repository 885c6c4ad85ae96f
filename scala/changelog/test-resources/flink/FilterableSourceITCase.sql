-- testFilterPushdown
SELECT k, v, timestamp_seconds(id) FROM {t} WHERE k > 1

-- testWithRejectedFilter
SELECT k, v, timestamp_seconds(id) FROM {t} WHERE v > 1

-- testProjectWithWatermarkFilterPushdown
SELECT k, v FROM {t} WHERE upper(g) = 'TEA'
