"""One node kind a file, four verbs each: begin, on_event, pending (pure) and perform (async, idempotent).

In: a node, its spec, an event. Out: a Move, or what an effect found out, as events.
Never here: a handler importing another; a new kind touches its own file and registry.py.
"""
