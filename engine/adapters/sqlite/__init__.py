"""The embedded log: one SQLite file in WAL mode, one writer thread with group commit.
The only room that imports sqlite3.
"""
