"""The part of a lookup that runs in Spark's Python workers.

The workers of a cluster need not have firesteel: `firesteel.lookup._shipping` sends the code of
this folder and of `firesteel.lookup._interfaces` to them by value. So nothing here uses a
SparkSession, py4j or the rest of the package, and no module has state. `process.LookupProcess` has
the state of a worker process.

```text
process  one per worker process: batches of keys in, answers out
  task     one opened connector: looks the keys of a batch up, in the cache or in the store
    keys     distinct keys of Arrow columns
    cache    answers by key; store: their rows
    asking   calls of the connector: batches, threads, retries, timeout; crew: the threads
    answers  checks the connector's answers
  partitions  the connector's partitioner
request     the engine's request; failures: every error
```
"""
