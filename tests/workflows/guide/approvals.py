"""Waiting for a person: a report is approved, and titled."""

from datetime import timedelta

from flytekit import approve, conditional, sleep, task, wait_for_input, workflow


@task
def reporter(data: list[float]) -> str:
    return f"mean {sum(data) / len(data):.2f}"


@task
def publish(report: str, title: str) -> str:
    return f"{title}: {report}"


@task
def shelve() -> str:
    return "not published"


@workflow
def reporting(data: list[float]) -> str:
    title = wait_for_input("title", timeout=timedelta(hours=1), expected_type=str)
    report = approve(reporter(data=data), "report", timeout=timedelta(hours=1))
    pause = sleep(timedelta(milliseconds=50))
    published = publish(report=report, title=title)
    pause >> published
    return published


@workflow
def conditional_reporting(data: list[float]) -> str:
    report = reporter(data=data)
    passed = wait_for_input("passes", timeout=timedelta(hours=1), expected_type=bool)
    return (
        conditional("verdict").if_(passed.is_true()).then(publish(report=report, title="final")).else_().then(shelve())
    )
