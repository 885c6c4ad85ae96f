"""What runs of a lookup in Spark's Python workers.

Nothing here may need a SparkSession, py4j or the rest of this package: a cluster's workers need
not have firesteel, so `firesteel.lookup._shipping` sends this folder's code
and `firesteel.lookup._interfaces` along, by value.
Therefore it has no state in modules; what lives as long as a worker process is in
`process.LookupProcess`.

```text
process  one per worker process: batches in, answers out
  task     one opened connector: the keys of a batch, found in the cache or asked for
    keys     distinct keys of Arrow columns
    cache    answers kept, by key; store: their rows
    asking   questions to the connector: batches, threads, retries, timeout; crew: the threads
    answers  what a connector answered, checked
  partitions  the connector's partitioner, key by key
request     what the JVM sends; failures: every error
```
"""
