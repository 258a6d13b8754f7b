"""From the four sources to one frozen `Settings`, or every problem at once.

Later sources win, key by key: defaults.yaml, the --config file, environment variables, --set.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from config.reference import Setting, known_settings
from config.settings import Settings
from config.sources import Problem, Source, Typed, from_environ, from_file, from_sets

DEFAULTS = Path(__file__).with_name("defaults.yaml")
_EXPECTED = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "dict_type": "a map",
    "mapping_type": "a map",
    "list_type": "a list",
    "extra_forbidden": "a known key",
}
"""Pydantic's names of what can be wrong, where our words are plainer than its own."""


class SettingsError(ValueError):
    """Settings that can't be used; `problems` lists everything wrong with them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        listed = "".join(f"\n  - {problem}" for problem in problems)
        super().__init__(f"the settings can't be used, {count}; nothing was started:{listed}")


def load(config_file: str | Path | None, sets: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """The settings of one engine. Raises SettingsError with all problems.

    `config_file` is the argument of --config (else the variable PROPWASH_CONFIG names the file, if it is set), `sets`
    the arguments of --set in their order, `environ` the whole environment.
    """
    config_file = config_file or environ.get("PROPWASH_CONFIG")
    sources = [from_file(DEFAULTS, "defaults")]
    if config_file:
        sources.append(from_file(config_file, f"file {config_file}"))
    sources += [*from_environ(environ), *from_sets(sets)]
    merged = _Merged()
    for source in sources:
        merged.add(source)
    return merged.validated()


class _Merged:
    """The sources laid over each other, with the origin of every value."""

    def __init__(self) -> None:
        self.known = known_settings()
        self.values: dict[str, dict[str, object]] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []

    def add(self, source: Source | Problem) -> None:
        if isinstance(source, Problem):
            self.problems.append(source)
            return
        for path, value in _leaves(source.tree):
            setting = self.known.get(".".join(path[:2]))
            if setting is None or (len(path) > 2 and not setting.is_map):
                self._refuse(path, value, source.origin)
            elif len(path) > 2:
                self._set_item(setting, ".".join(path[2:]), value, source.origin)
            else:
                self._set(setting, value, source.origin)

    def validated(self) -> Settings:
        """Raises SettingsError."""
        try:
            settings = Settings.model_validate(self.values)
        except ValidationError as error:
            self.problems += [self._problem(details) for details in error.errors(include_url=False)]
        if self.problems:
            raise SettingsError(self.problems)
        return settings

    def _set(self, setting: Setting, value: object, origin: str) -> None:
        self.origins = {key: at for key, at in self.origins.items() if not key.startswith(f"{setting.key}.")}
        self.origins[setting.key] = origin
        self.values.setdefault(setting.group, {})[setting.name] = _plain(value, setting)

    def _set_item(self, setting: Setting, item: str, value: object, origin: str) -> None:
        current = self.values.get(setting.group, {}).get(setting.name)
        if setting.keys:
            current, item = current or {}, item.lower()
        if isinstance(current, Mapping):
            self.values[setting.group][setting.name] = {**current, item: _plain(value, setting)}
            self.origins[f"{setting.key}.{item}"] = origin

    def _refuse(self, path: Sequence[str], value: object, origin: str) -> None:
        """Report a key that is no setting (an empty section is nothing to report)."""
        value = value.text if isinstance(value, Typed) else value
        members = [setting.name for setting in self.known.values() if setting.group == path[0]]
        if len(path) > 1 or not members:
            expected = f"there is no such setting; {_suggest(path, self.known, origin)}"
        elif value is None:
            return
        else:
            expected = f"expected a section with {', '.join(members)}"
        self.problems.append(Problem(".".join(path), value, origin, expected))

    def _problem(self, details: ErrorDetails) -> Problem:
        parts = [str(part) for part in details["loc"] if part != "[key]"]
        key = ".".join(parts)
        origin = self.origins.get(key) or self.origins.get(".".join(parts[:2]), "defaults")
        context = details.get("ctx", {})
        if details["type"] == "at_least":
            other = context["other"]
            other_key = f"{parts[0]}.{other}"
            limit = self.values[parts[0]][other]
            expected = f"at least {other_key}, which is {limit} (from {self.origins[other_key]})"
        else:
            ours = _EXPECTED.get(details["type"])
            expected = ours.format_map(context) if ours else details["msg"].removeprefix("Input should be ")
        return Problem(key, details["input"], origin, f"expected {expected}")


def _leaves(tree: Mapping[str, object], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """The values of a tree with their paths; a map that was given whole as the value of a setting stays whole."""
    for name, value in tree.items():
        here = (*path, str(name))
        section = value.value if isinstance(value, Typed) and len(here) == 1 else value
        by_path = isinstance(value, Mapping) and any(isinstance(item, Typed) for item in value.values())
        if isinstance(section, Mapping) and (len(here) == 1 or by_path):
            yield from _leaves(section, here)
        else:
            yield here, value


def _plain(value: object, setting: Setting) -> object:
    """The value to validate: typed text stays as it was typed where the setting is text (`007` is no number there)."""
    if not isinstance(value, Typed):
        return value
    return value.text if setting.is_text and not isinstance(value.value, str | Mapping | None) else value.value


def _suggest(path: Sequence[str], known: Mapping[str, Setting], origin: str) -> str:
    close = difflib.get_close_matches(".".join(path), known, n=1)
    if not close:
        names = {setting.name: key for key, setting in known.items()}
        close = [names[name] for name in difflib.get_close_matches(path[-1], names, n=1)]
    if not close:
        return f"the sections are {', '.join(dict.fromkeys(setting.group for setting in known.values()))}"
    variable = f" ({known[close[0]].variable})" if origin.startswith("environment") else ""
    return f"did you mean {close[0]}{variable}?"
