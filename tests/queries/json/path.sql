-- expect: declines JSON.PATH
SELECT get_json_object(concat('{"a":[', v, ']}'), '$.a[*]') AS a FROM events
