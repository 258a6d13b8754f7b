"""The whole world in memory: log, store, runner and clock for tests and as the contract tests' reference.
In and out: the ports. Never here: a shortcut that the real adapters don't have.
"""
