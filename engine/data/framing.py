"""Protobuf framing without parsing values: where the fields of a message lie, and how to put framed bytes together.

Only lengths are read, so a value of any size costs the same. Broken bytes raise CorruptMessage: never wrong data, never
a loop. What protobuf's parser accepts is accepted with the same meaning: unknown fields are skipped, the last map entry
of a key wins, the occurrences of a sub-message merge. Refused all the same: groups, which no Flyte message uses.
"""

from __future__ import annotations

from collections.abc import Iterator

Data = bytes | memoryview

_MAX_LENGTH = 2**31 - 1
"""Bytes; protobuf's own limit for one message."""
_TAG_BYTES, _LENGTH_BYTES, _VARINT_BYTES = 5, 5, 10
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5


class CorruptMessage(ValueError):
    """These bytes are not the message they should be; says at which byte and why."""


def varint(number: int) -> bytes:
    """A number of 0 or more as a protobuf varint."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def varint_size(number: int) -> int:
    """Bytes that `varint(number)` takes."""
    return max(1, (number.bit_length() + 6) // 7)


def header(tag: int, length: int) -> bytes:
    """What stands before a field of `length` bytes. `tag` is one byte: field number * 8 + 2."""
    if length < 128:
        return bytes((tag, length))
    return bytes((tag,)) + varint(length)


def framed(tag: int, payload: Data) -> bytes:
    """One length-delimited field."""
    return b"".join((header(tag, len(payload)), payload))


def framed_size(length: int) -> int:
    """Bytes of a field of `length` bytes with its header (one byte of tag)."""
    return 1 + varint_size(length) + length


def fields(
    data: Data, start: int = 0, end: int | None = None, beyond: int | None = None
) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a message: tag, where the field starts, where its value starts and where it ends.

    The tag is field number * 8 + wire type. `beyond`: `data` is the beginning of a message that ends there; values may
    then reach beyond `data`, and the iteration stops without an error at a header that is cut. Raises CorruptMessage.
    """
    end = len(data) if end is None else end
    limit = end if beyond is None else beyond
    position = start
    while position < end:
        first = position
        tag = data[position]
        position += 1
        if tag < 128:
            pass
        elif (read := _read(data, first, end, _TAG_BYTES)) is None:
            return _cut(first, end, limit)
        else:
            tag, position = read
        wire = tag & 7
        if tag >> 3 == 0 or tag >> 32:
            raise CorruptMessage(f"byte {first} starts a field with an impossible number")
        if wire == _DELIMITED:
            if position < end and data[position] < 128:
                length = data[position]
                position += 1
            elif (read := _read(data, position, end, _LENGTH_BYTES)) is None:
                return _cut(first, end, limit)
            else:
                length, position = read
            value = position
            position += length
            if length > _MAX_LENGTH or position > limit:
                raise CorruptMessage(f"the field at byte {first} says {length} bytes, {limit - value} are left")
        else:
            value = position
            ending = _end_of_number(data, position, end, wire, first)
            if ending is None or ending > limit:
                return _cut(first, end, limit)
            position = ending
        yield tag, first, value, position
    return None


def _read(data: Data, position: int, end: int, most: int) -> tuple[int, int] | None:
    """A varint and where it ends, or None when it is cut by `end`."""
    number = shift = 0
    for index in range(position, min(end, position + most)):
        byte = data[index]
        number |= (byte & 127) << shift
        if byte < 128:
            return number, index + 1
        shift += 7
    if end - position >= most:
        raise CorruptMessage(f"the number at byte {position} has no end")
    return None


def _end_of_number(data: Data, position: int, end: int, wire: int, first: int) -> int | None:
    if wire == _VARINT:
        read = _read(data, position, end, _VARINT_BYTES)
        return None if read is None else read[1]
    if wire == _FIXED64:
        return position + 8
    if wire == _FIXED32:
        return position + 4
    raise CorruptMessage(f"the field at byte {first} has wire type {wire}, which Flyte does not use")


def _cut(first: int, end: int, limit: int) -> None:
    if limit <= end:
        raise CorruptMessage(f"cut off in the field that starts at byte {first}")


def text(data: Data) -> str:
    """A string field's value."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as problem:
        raise CorruptMessage(f"a text is not UTF-8: {problem.reason} at byte {problem.start} of it") from None
