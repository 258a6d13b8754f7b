"""Submits to engines on Kafka, and follows what they do, from any Python program: `connecting.connect` is the way in.
In: settings, requests in words of their own. Out: events in the topic; facts and outputs back.
Never here: an engine, a decision; whatever this does, any Kafka client can do by docs/events.md.
"""
