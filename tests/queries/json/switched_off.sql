-- expect: declines JSON.SWITCHED_OFF
-- set: spark.firesteel.json.enabled=false
SELECT get_json_object(concat('{"a":', v, '}'), '$.a') AS a FROM events
