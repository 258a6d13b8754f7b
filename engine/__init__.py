"""The engine.

In: events read from a log. Out: node states, history facts, follow-up events and effects.
The rooms and what each may import are drawn in ARCHITECTURE.md.
Never here: code of its own; `app.py` puts the rooms together.
"""
