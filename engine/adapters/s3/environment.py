"""What a task needs to reach the same store: flytekit reads and writes most values itself."""

from __future__ import annotations

from engine.adapters.s3.options import S3Options


def task_environment(options: S3Options) -> dict[str, str]:
    """Variables of flytekit (FLYTE_AWS_*) and of AWS. No secrets: tasks find credentials by the same chain."""
    found = {}
    if options.endpoint:
        found["FLYTE_AWS_ENDPOINT"] = options.endpoint
    if options.region:
        found["AWS_DEFAULT_REGION"] = options.region
    if options.addressing == "virtual":
        found["FLYTE_AWS_ADDRESSING_STYLE"] = "virtual"
    return found
