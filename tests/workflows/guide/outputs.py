"""Named outputs, enumerations, optional values, pickles, and a task that makes a deck."""

from enum import Enum
from typing import NamedTuple, Optional, Union

from flytekit import Deck, task, workflow


class Coffee(Enum):
    ESPRESSO = "espresso"
    LATTE = "latte"


class Superhero:
    """Travels as a pickle."""

    def __init__(self, name: str, power: str) -> None:
        self.name, self.power = name, power


slope_value = NamedTuple("slope_value", [("slope", float)])
line = NamedTuple("line", slope=float, intercept=float)


@task
def slope(x: list[int], y: list[int]) -> slope_value:
    return slope_value((y[-1] - y[0]) / (x[-1] - x[0]))


@task
def intercept(x: list[int], y: list[int], slope: float) -> float:
    return y[0] - slope * x[0]


@workflow
def line_through(x: list[int], y: list[int]) -> line:
    found = slope(x=x, y=y)
    return line(slope=found.slope, intercept=intercept(x=x, y=y, slope=found.slope))


@task(enable_deck=True)
def order(coffee: Coffee, cups: Union[int, str], sugar: Optional[float] = None) -> str:
    Deck("receipt", f"<b>{coffee.value}</b>")
    return f"{cups!r} {coffee.value} {'without sugar' if sugar is None else f'with {sugar} g'}"


@workflow
def coffee_maker(coffee: Coffee = Coffee.LATTE, cups: Union[int, str] = 1, sugar: Optional[float] = None) -> str:
    return order(coffee=coffee, cups=cups, sugar=sugar)


@task
def welcome(name: str, power: str) -> Superhero:
    return Superhero(name, power)


@task
def greet(hero: Superhero) -> str:
    return f"Hello, {hero.name}! Your superpower is {hero.power}."


@workflow
def superhero(name: str = "Thor", power: str = "Flight") -> str:
    return greet(hero=welcome(name=name, power=power))
