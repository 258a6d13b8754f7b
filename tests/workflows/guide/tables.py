"""Structured data sets, and a cache that knows a table by its content."""

from typing import Annotated

import pandas as pd
from flytekit import HashMethod, kwtypes, task, workflow
from flytekit.types.structured import StructuredDataset

Everything = kwtypes(Name=str, Age=int, Height=int)
Ages = kwtypes(Age=int)


def hash_of(frame: pd.DataFrame) -> str:
    return str(pd.util.hash_pandas_object(frame).sum())


@task
def make(n: int) -> pd.DataFrame:
    return pd.DataFrame({"Name": [f"n{k}" for k in range(n)], "Age": range(n), "Height": [160 + k for k in range(n)]})


@task
def subset(frame: Annotated[StructuredDataset, Ages]) -> Annotated[StructuredDataset, Ages]:
    return StructuredDataset(dataframe=frame.open(pd.DataFrame).all())


@task
def columns(table: StructuredDataset) -> list[str]:
    return list(table.open(pd.DataFrame).all().columns)


@task
def identified(n: int, remark: str) -> Annotated[pd.DataFrame, HashMethod(hash_of)]:
    print(remark)
    return pd.DataFrame({"Age": range(n)})


@task(cache=True, cache_version="1.0")
def mean_age(frame: pd.DataFrame, place: str) -> float:
    with open(place, "a") as file:
        file.write("computed ")
    return float(frame["Age"].mean())


@task
def read(place: str) -> str:
    with open(place) as file:
        return file.read().strip()


@workflow
def ages(n: int = 3) -> tuple[pd.DataFrame, list[str]]:
    chosen = subset(frame=make(n=n))
    return chosen, columns(table=chosen)


@workflow
def computed_once(place: str, n: int = 5) -> tuple[float, float, str]:
    first = mean_age(frame=identified(n=n, remark="one"), place=place)
    second = mean_age(frame=identified(n=n, remark="two"), place=place)
    said = read(place=place)
    first >> second
    second >> said
    return first, second, said
