"""The command line of propwash: one module a command.
In: argv. Out: text or one JSON document on stdout, messages on stderr, an exit code.
Never here: engine rules; what runs is composed by engine.homes and engine.app, and engine.reach finds who runs it.
"""
