"""What was registered: names, versions and the packages behind them, the active launch plans and their schedules.
In: packages. Out: entries in the store, one object each, so that any store and any process has the same registry.
Never here: how an execution runs; a schedule only submits.
"""
