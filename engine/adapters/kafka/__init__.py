"""The event log on Apache Kafka: one log for each partition of the events that this process owns.
In: events, states, facts. Out: records in their order, what was committed. Never here: what an event means. The only
room that imports aiokafka.
"""
