"""A variable that begins with PROPWASH_ and sets nothing would otherwise be ignored without a word."""

from __future__ import annotations

import pytest

from config.load import SettingsError, load
from config.settings import Settings


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("PROPWASH_OFFLOADING_MIN_SIZE", "did you mean offloading.min_size (PROPWASH_OFFLOADING__MIN_SIZE)?"),
        ("PROPWASH_OFLOADING__MIN_SIZE", "did you mean offloading.min_size (PROPWASH_OFFLOADING__MIN_SIZE)?"),
        ("PROPWASH_ZZZ", "the sections are execution, log, kafka, store"),
    ],
)
def test_an_unknown_variable_is_named_with_the_closest_setting(name: str, suggestion: str) -> None:
    with pytest.raises(SettingsError, match=f"environment variable {name}") as caught:
        load(None, [], {name: "1"})
    assert suggestion in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "PROPWASH_HOME",
        "PROPWASH_KAFKA_PASSWORD",
        "PROPWASH_DEBUG",
        "PROPWASH_CONFIG_SERVICE_HOST",
        "PROPWASH_RUNNER_0123456789abcdef",
        "PROPWASH_SERVICE_HOST",
        "PROPWASH_SERVICE_PORT",
        "PROPWASH_SERVICE_PORT_HTTP",
        "PROPWASH_PORT",
        "PROPWASH_PORT_8080_TCP_ADDR",
        "PROPWASH_GATEWAY_SERVICE_HOST",
        "PROPWASHER",
        "OTHER",
    ],
)
def test_variables_that_are_not_meant_as_settings_are_left_alone(name: str) -> None:
    assert load(None, [], {name: "anything"}) == Settings()
