"""The propeller: reads a batch, applies it, commits it, starts the effects; recovery after a crash.
In: records of the log. Out: one commit a turn, then effects. Never here: a rule of the machine, a client library.
"""
