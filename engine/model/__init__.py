"""Nouns: ids and node paths, phases and their transitions, events, graphs, states, effects, errors.

In: nothing; this is the ground floor. Out: frozen values that every other room speaks in.
Never here: async, I/O, a clock, logging, settings, protobuf.
"""
