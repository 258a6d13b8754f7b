"""What the engine asks of the world, as Protocols: EventLog, BlobStore, TaskRunner, Clock.

In: nouns. Out: nouns, or the errors each method names. Never here: an implementation, a client library.
Every adapter of a port passes the same contract tests (tests/contract).
"""
