"""A reader of the packed format of windows, written from FORMAT.md alone: packed bytes on standard
input, one line of JSON for each window. Integers are digits, other doubles their eight bytes in hex."""

import hashlib
import json
import struct
import sys
import zlib

KINDS = ["gauge", "counter", "histogram", "profile"]


def frames(data):
    at = 0
    while at < len(data):
        magic, format, kind, zero, length, payload_crc, header_crc = struct.unpack_from(
            "<4sBBHIII", data, at
        )
        assert (magic, format, zero) == (b"\x89SRW", 1, 0) and length <= 2**24
        assert zlib.crc32(data[at : at + 16]) == header_crc
        payload = data[at + 20 : at + 20 + length]
        assert len(payload) == length and zlib.crc32(payload) == payload_crc
        yield kind, payload
        at += 20 + length


class Cursor:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = 0
        for shift in range(0, 56, 7):
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a varint has at most eight bytes")

    def bytes(self, length):
        self.at += length
        assert self.at <= len(self.data)
        return self.data[self.at - length : self.at]

    def json(self):
        text = self.bytes(self.varint()).decode()
        return json.loads(text) if text else {}


class Columns:
    def __init__(self, cursor):
        lengths = [cursor.varint() for _ in range(3)]
        self.kinds, self.integers, self.doubles = (Cursor(cursor.bytes(n)) for n in lengths)
        assert cursor.at == len(cursor.data)
        self.left = 0

    def double(self):
        return struct.unpack("<d", self.doubles.bytes(8))[0]

    def number(self):
        if self.left == 0:
            self.left, self.kind = divmod(self.kinds.varint(), 8)
        self.left -= 1
        if self.kind == 0:
            return 0
        if self.kind == 3:
            return self.double()
        if self.kind == 6:
            return None
        first = self.integers.varint()
        if self.kind == 1:
            return first
        if self.kind == 2:
            return -first
        if self.kind == 4:
            return [self.double() for _ in range(first)]
        assert self.kind == 5
        magnitude = sum(self.integers.varint() << (32 * i) for i in range(first >> 1))
        return -magnitude if first & 1 else magnitude

    def natural(self):
        return self.integers.varint()

    def step(self):
        coded = self.integers.varint()
        return -(coded + 1) // 2 if coded & 1 else coded // 2

    def ascending(self):
        count, indexes, last = self.natural(), [], -1
        while len(indexes) < count:
            run = self.natural()
            indexes += range(last + 1, last + 1 + run)
            last += run
            if len(indexes) < count:
                last += self.natural()
                indexes.append(last)
        assert len(indexes) == count
        return indexes

    def end(self):
        sections = (self.kinds, self.integers, self.doubles)
        assert self.left == 0 and all(s.at == len(s.data) for s in sections)


def window(payload, blocks):
    name, from_ns, to_ns, flags = struct.unpack_from("<16sQQB", payload)
    block = blocks[name]
    cursor = Cursor(payload, 33)
    own, members = cursor.json(), cursor.json()
    known = {
        name: block[name] + own.get(name, []) for name in ("series", "frames", "resources")
    }
    columns = Columns(cursor)
    series = []
    for index in columns.ascending():
        name, kind, tags, *buckets = known["series"][index] + [None]
        series.append({"name": name, "type": kind, "tags": tags, "kind": buckets[0]})
    for one in series:
        one["updated_ns"] = to_ns - columns.number()
    gauges, counters, histograms, profiles = (
        [one for one in series if one["type"] == kind] for kind in KINDS
    )
    for one in gauges:
        one["value"] = columns.number()
    for one in counters:
        one["total"] = columns.number()
    for field in ("count", "sum", "min", "max"):
        for one in histograms:
            one[field] = columns.number()
    for one in histograms:
        one["buckets"] = buckets_of(one["kind"], columns)
        assert one["buckets"] is None or sum(one["buckets"][-1]) == one["count"]
    for one in profiles:
        names = [known["frames"][index] for index in columns.ascending()]
        values = [columns.number() for _ in names]
        samples = [columns.number() for _ in names]
        one["frames"] = [list(frame) for frame in zip(names, values, samples)]
    resources = [dict(known["resources"][index]) for index in columns.ascending()]
    for one in resources:
        one["last_seen_ts"] = to_ns // 10**9 - columns.number()
    columns.end()
    for one in series:
        del one["kind"]
    return {
        "instance": block["instance"],
        "from_ns": from_ns,
        "to_ns": to_ns,
        "final": flags == 1,
        "ended_ns": members.get("ended_ns"),
        "errors": members.get("errors", []),
        "series": series,
        "resources": resources,
    }


def buckets_of(kind, columns):
    if kind is None:
        return None
    if kind != "bins":
        bounds = [float(bound) for bound in kind]
        return [bounds, [columns.natural() for _ in range(len(bounds) + 1)]]
    indexes, index = [], 0
    for _ in range(columns.natural()):
        index += columns.step()
        indexes.append(index)
    return [indexes, [columns.natural() for _ in indexes]]


def exact(value):
    """The value with texts in place of numbers, so that no digit is lost."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list):
        return [exact(part) for part in value]
    if isinstance(value, int):
        return str(value)
    double = struct.pack(">d", value).hex()
    is_integer = value.is_integer() and abs(value) < 2**53 and double != "80" + "00" * 7
    return str(int(value)) if is_integer else double


def main():
    blocks, count = {}, 0
    for kind, payload in frames(sys.stdin.buffer.read()):
        if kind == 1:
            blocks[hashlib.sha256(payload).digest()[:16]] = json.loads(payload.decode())
        elif kind == 2:
            count += 1
            print(json.dumps(exact(window(payload, blocks))))
        else:
            assert struct.unpack("<I", payload)[0] == count


main()
