"""Doors for people and machines: HTTP API, metrics, health.
In: requests. Out: answers read from the log; events appended. Never here: a decision.
"""
