"""Tasks as local processes: a warm parent per environment that forks, and plain starts where that can't serve.
In: TaskRequest. Out: Exit, when nothing of the attempt runs any more. Never here: values, verdicts.
"""
