-- expect: declines JSON.TYPE
SELECT from_json(concat('{"a":', v, '}'), 'a VARIANT').a::INT AS a FROM events
