"""The demo: real queries with firesteel off and on, on your own table or a made-up one.

Run it with ``make demo``, or ``python -m firesteel.demo --help``. It needs the ``demo`` extra.
"""
