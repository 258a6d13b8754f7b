"""Hands: one third-party client or one kind of world each. They know nothing of workflows and not of each other.
In: what a port says. Out: what it promises, checked by tests/contract.
"""
