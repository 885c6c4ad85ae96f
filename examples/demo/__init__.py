"""The demo: a stream that Spark refuses, queries with firesteel off and on, and a lookup join.

``make demo`` runs it. ``python examples/demo --help`` shows its options; it needs rich.
"""
