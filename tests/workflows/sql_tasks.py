"""Queries on SQLite."""

import os

import pandas
from flytekit import kwtypes, task, workflow
from flytekit.extras.sqlite3.task import SQLite3Config, SQLite3Task
from flytekit.types.schema import FlyteSchema
from flytekit.types.structured import StructuredDataset

DATABASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "albums.sqlite")

after = SQLite3Task(
    name="sql_tasks.after",
    query_template="select title, year from albums where year > {{ .inputs.year }} order by year limit {{ .inputs.n }}",
    inputs=kwtypes(year=int, n=int),
    output_schema_type=FlyteSchema[kwtypes(title=str, year=int)],
    task_config=SQLite3Config(uri=DATABASE),
)
everything = SQLite3Task(
    name="sql_tasks.everything",
    query_template="select * from albums",
    task_config=SQLite3Config(uri=DATABASE),
)


@task
def titles(frame: pandas.DataFrame) -> list[str]:
    return [f"{row.title} {row.year}" for row in frame.itertuples()]


@task
def count(rows: StructuredDataset) -> int:
    return len(rows.open(pandas.DataFrame).all())


@workflow
def queried(year: int, n: int = 5) -> tuple[list[str], int]:
    return titles(frame=after(year=year, n=n)), count(rows=everything())
