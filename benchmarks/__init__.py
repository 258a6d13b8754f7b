"""Workloads of the design's speed table, each beside a reference that is measured in the same run.

In: names of figures. Out: a table on stdout and benchmarks/latest.json. Never here: an assertion about time.
"""
