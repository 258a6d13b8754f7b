"""Settings: typed, documented, validated as a whole; and what an operator deploys.

In: defaults.yaml, a --config file, PROPWASH_ environment variables, --set. Out: one frozen Settings.
Never here: the engine (it gets plain numbers from homes.py).
"""
