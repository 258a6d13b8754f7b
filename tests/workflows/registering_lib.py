"""What a registered task imports."""


def times(n: int, factor: int) -> int:
    return n * factor
