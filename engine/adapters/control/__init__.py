"""The way from a command to the engine that works on a home: a unix socket in the home, for its owner only.
In: requests of engine.wire.control, a frame each. Out: their answers. Never here: what a request means.
"""
