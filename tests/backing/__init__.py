"""Servers that tests run against: Apache Kafka from plain jars, an S3 server from a Python package.

In: nothing but what Maven and pip have put on this machine. Out: addresses. Never here: anything that a test asserts.
`python -m tests.backing` (make services) starts them for a person; a run of the tests starts what its tests name.
"""
