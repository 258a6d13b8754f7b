"""Bytes ↔ nouns at the door: msgpack for events and state, flyteidl for packages, values for people.
In: bytes, files of a package, text a person typed.
Out: frozen nouns, canonical bytes, natural JSON; or BadInput naming what is wrong.
Never here: decisions, a log, a store, flytekit (packager.py runs it in the author's own process).
"""
