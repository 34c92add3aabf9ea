"""String formats of kube-openapi."""

from __future__ import annotations

import pytest

from llmdctl.schema.formats import format_test

SAMPLES = {
    "bsonobjectid": (["507f1f77bcf86cd799439011"], ["507f1f77bcf86cd79943901", "zz7f1f77bcf86cd799439011"]),
    "uri": (["https://a.example/b", "/only/a/path", "urn:x:y"], ["no scheme", "", "/%zz", "http://a b/"]),
    "email": (["a@example.com", "A <a@b.example>"], ["a@b@c", "a..b@c", "example.com", "@example.com", "a b@c"]),
    "hostname": (["a.example.com", "node1", "bücher.example"], ["-a.example", "a..b", "a b", "a_b", "node-1"]),
    "ipv4": (["10.0.0.1", "010.0.0.1"], ["10.0.0", "::1", "10.0.0.256"]),
    "ipv6": (["::1", "fe80::1"], ["10.0.0.1", ":::", "fe80::1%eth0"]),
    "cidr": (["10.0.0.0/8", "10.1.2.3/8", "fd00::/8"], ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/255.0.0.0"]),
    "mac": (["00:1a:2b:3c:4d:5e", "001a.2b3c.4d5e"], ["00:1a:2b", "zz:1a:2b:3c:4d:5e"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567", "123e4567-e89b-12d3-a456-42661417400g"]),
    "uuid4": (["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]),
    "isbn10": (["0-306-40615-2", "080442957X"], ["0306406152111", "030640615X"]),
    "isbn13": (["978-0-306-40615-7"], ["978"]),
    "hexcolor": (["#fff", "a0b1c2"], ["#ffff", "red"]),
    "rgbcolor": (["rgb(1, 2, 3)"], ["rgb(1,2)", "rgb(256,1,1)"]),
    "byte": (["aGVsbG8="], ["aGVsbG8", "ä", "", "aGVs\nbG8="]),
    "date": (["2026-12-01"], ["2026-13-01", "20261201", "2026-12-01T00:00:00Z"]),
    "date-time": (["2026-12-01T06:00:00Z", "2026-12-01t06:00:00.123456+05:30"], ["2026-12-01 06:00:00Z", "2026-12-01"]),
    "datetime": (["2026-12-01T06:00:00Z"], ["yesterday"]),
    "duration": (["1h30m", "0", "-1.5s", "3 days", "1 h 30 Min"], ["1", "one hour", "5 fortnights", ""]),
    "k8s-short-name": (["a-b"], ["A", "a.b", "a" * 64]),
    "k8s-long-name": (["a.b-c"], ["a..b", "a" * 254]),
    "ssn": (["111-22-3333"], ["111", "111223333"]),
    "creditcard": (["4111 1111 1111 1111"], ["4111"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str) -> None:
    test = format_test(name)
    assert test is not None
    good, bad = SAMPLES[name]
    assert [text for text in good if not test(text)] == []
    assert [text for text in bad if test(text)] == []


@pytest.mark.parametrize("name", ["password", "int32", "quantity", "whatever"])
def test_other_names_accept_everything(name: str) -> None:
    assert format_test(name) is None
