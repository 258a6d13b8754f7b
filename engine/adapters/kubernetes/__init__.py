"""Tasks as pods of a Kubernetes cluster, which outlive the engine that started them.
In: TaskRequest. Out: Exit, when nothing of the attempt runs any more. Never here: values, verdicts, workflows.
"""
