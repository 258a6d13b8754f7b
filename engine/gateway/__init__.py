"""Doors for people and machines: commands by the socket of a home, HTTP API, metrics, health.
In: requests. Out: answers read from the log; events appended. Never here: a decision.
"""
