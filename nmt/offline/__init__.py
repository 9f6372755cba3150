"""Translating a corpus that is larger than one machine: a folder of shards, on a Ray cluster.

``formats`` reads and writes a shard, ``ledger`` knows which are done and sees that each is done once, and
``cluster`` hands them to workers. See docs/engines.md.
"""
