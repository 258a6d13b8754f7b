"""Decisions: what an event does to an execution. Pure functions on frozen values.
In: state, event, now, limits. Out: new states, facts, follow-up events, effects.
Never here: async, I/O, a clock, logging, settings; nothing that a test could not call with plain values.
"""
