"""Random CEL expressions that use every function Kubernetes has, and texts that are only nearly CEL."""

from __future__ import annotations

import random

ATOMS: dict[str, tuple[str, ...]] = {
    "int": (
        "0", "1", "-1", "2", "3", "0x1F", "-7", "9223372036854775807", "-9223372036854775808", "self.i", "self.j",
    ),
    "uint": (
        "0u", "1u", "7u", "18446744073709551615u", "0xFFu",
    ),
    "double": (
        "0.5", "2.0", "-0.0", "1e300", "1.5e-7", "self.d", "0.1", "123456789.0",
    ),
    "string": (
        "''", "'a'", "'A-b'", "'llm-d'", "'ΑΒγ'", "'\\u00e9\\U0001F600'", "r'\\d'", "'  x '", "\"\"\"q\n\"\"\"",
        "self.s", "'10'", "'1.5'", "'true'", "'%s'", "'a,b,,c'", "'2026-12-01T10:20:30.5+02:00'", "'1h'", "self.t",
        "self.o.y",
    ),
    "bytes": (
        "b'a'", "b'\\xff\\000'", "b'é'", "b''",
    ),
    "bool": (
        "true", "false", "self.b", "has(self.o.y)", "has(self.o.x)",
    ),
    "null": (
        "null",
    ),
    "list<int>": (
        "[]", "[1]", "[3, 1, 2]", "self.l", "[1, 1, 2]",
    ),
    "list<string>": (
        "['b', 'a']", "self.w", "['a']", "['x', '', 'x']",
    ),
    "list<double>": (
        "[1.5, 0.5]", "[2.0]",
    ),
    "map<string,string>": (
        "self.m", "{'a': 'b'}", "{'k': 'v', 'l': ''}",
    ),
    "dyn": (
        "dyn(1)", "dyn(1u)", "dyn(1.0)", "dyn('a')", "dyn(null)", "dyn([1])", "dyn({'a': 1})", "dyn(true)", "self.u",
    ),
    "timestamp": (
        "timestamp('2026-01-31T23:59:59.123456789Z')", "timestamp('1969-07-20T20:17:40Z')", "timestamp(1700000000)",
        "timestamp('0001-01-02T00:00:00Z')", "timestamp('9999-12-30T23:59:59Z')",
    ),
    "duration": (
        "duration('1h30m')", "duration('-1.5s')", "duration('1ns')", "duration('100ms')", "duration('0')",
        "duration('2562047h')",
    ),
    "quantity": (
        "quantity('1Gi')", "quantity('1500m')", "quantity('-2')", "quantity('1e3')", "quantity('0.001')",
        "quantity('9E')", "quantity('100n')", "quantity('10Ei')", "quantity('1Pi')",
        "quantity('1234567890123456789')", "quantity('0.5Ki')",
    ),
    "semver": (
        "semver('1.2.3')", "semver('1.10.0-rc.1')", "semver('1.10.0-rc.1+b')", "semver('v1.2', true)",
        "semver('1.10.0-alpha')",
    ),
    "ip": (
        "ip('10.0.0.1')", "ip('::1')", "ip('fe80::1')", "ip('224.0.0.5')", "ip('ff02::1')", "ip('127.0.0.1')",
        "ip('0.0.0.0')", "ip('2001:DB8::0:1')", "ip('169.254.1.1')", "ip('255.255.255.255')",
    ),
    "cidr": (
        "cidr('10.0.0.0/8')", "cidr('10.1.2.3/16')", "cidr('fd00::/8')", "cidr('0.0.0.0/0')", "cidr('::1/128')",
    ),
    "url": (
        "url('https://u:p@a.b:8080/c%20d/e?x=1&y=2&x=3')", "url('/p?q')", "url('https://[::1]:80/')",
        "url('https://a')", "url('http://a.b/c?x=%20+1&z')",
    ),
    "optional<int>": (
        "optional.of(1)", "optional.none()", "self.o.?x", "optional.ofNonZeroValue(0)", "[1, 2][?5]", "self.l[?0]",
    ),
    "optional<string>": (
        "self.?o.?y", "optional.of('a')", "{'a': 'b'}[?'a']", "self.m[?'k']",
    ),
    "format": (
        "format.dns1123Label()", "format.dns1123Subdomain()", "format.dns1035Label()", "format.qualifiedName()",
        "format.dns1123LabelPrefix()", "format.dns1123SubdomainPrefix()", "format.dns1035LabelPrefix()",
        "format.labelValue()", "format.uri()", "format.uuid()", "format.byte()", "format.date()",
        "format.datetime()",
    ),
    "type": (
        "int", "type(1)", "string", "type(null)", "list", "map", "bool", "double", "uint", "bytes", "null_type",
        "type(type(1))",
    ),
    "zone": (
        "'UTC'", "'Europe/Berlin'", "'+02:30'", "'-08:00'", "'America/New_York'", "'nowhere'", "''",
    ),
    "formatted": (
        "'a'", "'a-b.c'", "'A/b_c'", "'-a'", "''", "'a.b/c'", "'1a'", "'https://a/b?c#d'", "'aGVsbG8='",
        "'2026-02-30'", "'2026-12-01'", "'2026-12-01T00:00:00Z'", "'123e4567-e89b-12d3-a456-426614174000'", "'a-'",
        "'a.'", "'a.b-'", "'/x'", "'x/'", "'a..b'", "'foo'", "'aGVsbG8'",
    ),
    "number": (
        "'1Gi'", "'1 Gi'", "'1.5'", "'.5'", "'5.'", "'1e3'", "'1E'", "'1Ki'", "'+1'", "'1e'", "'abc'", "'1kk'",
        "'1.2.3'", "'v1.2.3'", "'1.2'", "'01.2.3'", "'1.2.3-'", "'1.2.3-01'", "'1.2.3+a.b'", "'10.0.0.1'",
        "'::ffff:1.2.3.4'", "'fe80::1%eth0'", "'010.0.0.1'", "'10.0.0.0/33'", "'10.0.0.0/8'", "'1.2.3.4.5'", "'::'",
        "'1h'", "'1d'", "'1h1'", "'-1m'", "'+1s'", "'.5h'", "'https://a b'", "'a:b'", "'//a'", "'http://a:b'",
        "'/%zz'", "'0x10'", "' 1'", "'1_000'", "'inf'", "'NaN'", "'1e400'", "'99999999999999999999'", "'T'", "'yes'",
        "'-0'", "'٣'",
    ),
    "pattern": (
        "'[a-z]+'", "'^a'", "'(?i)LLM'", "'.'", "'\\\\d'", "'x*'", "'(a)|(b)'", "'['", "'$'", "'\\\\p{Greek}'",
    ),
    "template": (
        "'%s'", "'%d'", "'%f'", "'%.3f'", "'%e'", "'%.2e'", "'%x'", "'%X'", "'%o'", "'%b'", "'%%'", "'%s %s'", "'%'",
        "'%q'", "'%.s'", "'a%sb'", "'%3d'",
    ),
}  # fmt: skip
"""Type -> texts that have it, most of them without a fault."""
FORMS: dict[str, tuple[str, ...]] = {
    "int": (
        "({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})", "({int} % {int})", "-({int})",
        "size({string})", "{bytes}.size()", "{list<int>}.size()", "size({map<string,string>})", "int({double})",
        "int({uint})", "int({number})", "int({timestamp})", "{string}.indexOf({string})",
        "{string}.indexOf({string}, {int})", "{string}.lastIndexOf({string})",
        "{string}.lastIndexOf({string}, {int})", "{list<int>}.sum()", "{list<int>}.min()", "{list<int>}.max()",
        "{list<int>}.indexOf({int})", "{list<string>}.lastIndexOf({string})", "({bool} ? {int} : {int})",
        "{list<int>}[{int}]", "{quantity}.compareTo({quantity})", "{quantity}.sign()", "{quantity}.asInteger()",
        "{semver}.compareTo({semver})", "{semver}.patch()", "{semver}.major()", "{semver}.minor()",
        "{timestamp}.getFullYear()", "{timestamp}.getMonth()", "{timestamp}.getDayOfYear({zone})",
        "{timestamp}.getDayOfMonth()", "{timestamp}.getDate({zone})", "{timestamp}.getDayOfWeek()",
        "{timestamp}.getHours({zone})", "{timestamp}.getMinutes({zone})", "{timestamp}.getSeconds()",
        "{timestamp}.getMilliseconds()", "{duration}.getHours()", "{duration}.getMinutes()",
        "{duration}.getSeconds()", "{duration}.getMilliseconds()", "{ip}.family()", "{cidr}.prefixLength()",
        "{optional<int>}.value()", "{optional<int>}.orValue({int})", "dyn({int})", "int({duration})",
    ),
    "uint": (
        "uint({int})", "uint({double})", "uint({number})", "({uint} + {uint})", "({uint} * {uint})",
        "({uint} - {uint})", "({uint} / {uint})", "({uint} % {uint})",
    ),
    "double": (
        "({double} + {double})", "({double} - {double})", "({double} * {double})", "({double} / {double})",
        "double({int})", "double({uint})", "double({number})", "-({double})", "{list<double>}.sum()",
        "{list<double>}.max()",
    ),
    "string": (
        "({string} + {string})", "{string}.lowerAscii()", "{string}.upperAscii()", "{string}.trim()",
        "{string}.replace({string}, {string})", "{string}.replace({string}, {string}, {int})",
        "{string}.substring({int})", "{string}.substring({int}, {int})", "{list<string>}.join({string})",
        "{list<string>}.join()", "string({int})", "string({uint})", "string({double})", "string({bytes})",
        "string({bool})", "string({timestamp})", "string({duration})", "{string}.charAt({int})",
        "strings.quote({string})", "{template}.format([{int}])", "{template}.format([{double}])",
        "{template}.format([{string}])", "{template}.format([{dyn}, {dyn}])", "'%s'.format([{list<int>}])",
        "'%s'.format([{map<string,string>}])", "'%s'.format([{timestamp}])", "'%s'.format([{duration}])",
        "'%s'.format([{bytes}])", "'%x'.format([{bytes}])", "{string}.find({pattern})", "string({ip})",
        "string({cidr})", "{url}.getScheme()", "{url}.getHost()", "{url}.getHostname()", "{url}.getPort()",
        "{url}.getEscapedPath()", "{list<string>}[{int}]", "{map<string,string>}[{string}]",
        "{optional<string>}.orValue({string})", "{string}.reverse()", "{list<string>}.min()",
        "({bool} ? {string} : {string})", "string({semver})", "string({quantity})", "{map<string,string>}.a",
    ),
    "bytes": (
        "bytes({string})", "({bytes} + {bytes})",
    ),
    "bool": (
        "({bool} && {bool})", "({bool} || {bool})", "!({bool})", "!!{bool}", "({int} == {int})", "({int} < {int})",
        "({string} == {string})", "({string} < {string})", "({double} >= {double})", "({bytes} < {bytes})",
        "({int} < {double})", "({uint} >= {int})", "({uint} == {dyn})", "({dyn} == {dyn})", "({dyn} != {dyn})",
        "({dyn} < {dyn})", "({dyn} in {list<int>})", "({dyn} in {dyn})", "({string} in {map<string,string>})",
        "{string}.startsWith({string})", "{string}.endsWith({string})", "{string}.contains({string})",
        "{string}.matches({pattern})", "matches({string}, {pattern})", "({int} in {list<int>})",
        "{list<int>}.all(x, {int} > x)", "{list<int>}.exists(x, 6 / x == {int})",
        "{list<int>}.exists_one(x, x == {int})", "{list<int>}.all(i, x, i < x)", "{list<int>}.exists(i, x, i == x)",
        "{list<int>}.existsOne(i, x, i == x)", "{map<string,string>}.all(k, k != {string})",
        "{map<string,string>}.exists(k, v, k == v)", "{list<int>}.isSorted()", "{list<string>}.isSorted()",
        "({list<int>} == {list<int>})", "({map<string,string>} == {map<string,string>})",
        "({timestamp} > {timestamp})", "({duration} <= {duration})", "({bool} == {bool})", "({bool} < {bool})",
        "({null} == {dyn})", "(type({dyn}) == {type})", "{quantity}.isGreaterThan({quantity})",
        "{quantity}.isLessThan({quantity})", "{quantity}.isInteger()",
        "({quantity}.asApproximateFloat() > {double})", "({quantity} == {quantity})", "isQuantity({number})",
        "isSemver({number})", "isSemver({number}, true)", "{semver}.isLessThan({semver})",
        "{semver}.isGreaterThan({semver})", "({semver} == {semver})", "isIP({number})", "ip.isCanonical({number})",
        "isCIDR({number})", "{ip}.isUnspecified()", "{ip}.isLoopback()", "{ip}.isLinkLocalMulticast()",
        "{ip}.isLinkLocalUnicast()", "{ip}.isGlobalUnicast()", "({ip} == {ip})", "{cidr}.containsIP({ip})",
        "{cidr}.containsIP({number})", "{cidr}.containsCIDR({cidr})", "{cidr}.containsCIDR({number})",
        "({cidr} == {cidr})", "isURL({number})", "({url} == {url})", "{optional<int>}.hasValue()",
        "({optional<int>} == {optional<int>})", "{format}.validate({formatted}).hasValue()",
        "format.named({formatted}).hasValue()", "sets.contains({list<int>}, {list<int>})",
        "sets.equivalent({list<int>}, {list<int>})", "sets.intersects({list<string>}, {list<string>})",
        "bool({number})", "has({dyn}.a)", "({bool} ? {bool} : {bool})", "({bool} && {dyn})",
        "{dyn}.startsWith({string})", "({int} == {string})", "({dyn} == {int})", "({list<int>} == {dyn})",
    ),
    "list<int>": (
        "{list<int>}.filter(x, x > {int})", "{list<int>}.map(x, x * {int})", "{list<int>}.map(x, x > 0, x + 1)",
        "({list<int>} + {list<int>})", "{list<int>}.transformList(i, v, i * v)",
        "{list<int>}.transformList(i, v, i > 0, v)", "{list<int>}.slice({int}, {int})", "{list<int>}.distinct()",
        "{list<int>}.reverse()", "{list<int>}.sort()", "lists.range(3)", "[{list<int>}, {list<int>}].flatten()",
        "[{int}, {int}]", "[?{optional<int>}, {int}]", "{list<int>}.sortBy(x, -x)", "[[[1]], [[2, 3]]].flatten(2)",
    ),
    "list<string>": (
        "{string}.split({string})", "{string}.split({string}, {int})", "{list<string>}.filter(x, x != {string})",
        "{string}.findAll({pattern})", "{string}.findAll({pattern}, {int})", "{list<string>}.sort()",
        "{list<string>}.distinct()", "{list<int>}.map(x, string(x))", "{list<string>}.sortBy(x, size(x))",
    ),
    "list<double>": (
        "[{double}, {double}]", "{list<double>}.map(x, x / 2.0)",
    ),
    "map<string,string>": (
        "{{string}: {string}, 'z': {string}}", "{map<string,string>}.transformMap(k, v, v + k)",
        "{map<string,string>}.transformMap(k, v, k != 'a', v)", "{map<string,string>}.filter(k, k == 'a')",
        "{?'o': {optional<string>}}", "{map<string,string>}.transformMapEntry(k, v, {v: k})",
    ),
    "dyn": (
        "dyn({int})", "dyn({uint})", "dyn({double})", "dyn({string})", "[{int}, {int}]", "{{string}: {int}}",
        "({dyn} + {dyn})", "{dyn}[{dyn}]", "({bool} ? {int} : {string})", "{dyn}.size()", "[{dyn}, {dyn}]",
        "{dyn}.a", "{url}.getQuery()[{string}]", "{list<int>}.first()", "{list<int>}.last()", "({int} ? 1 : 2)",
        "-{dyn}", "!{dyn}", "{dyn}.map(x, x)", "{optional<int>}.optMap(x, x + {int})",
        "{optional<int>}.optFlatMap(x, optional.of(x))", "{bytes}", "{timestamp}", "{duration}", "{type}",
        "{optional<string>}", "{quantity}", "int({dyn})", "string({dyn})", "double({dyn})",
    ),
    "timestamp": (
        "({timestamp} + {duration})", "({timestamp} - {duration})", "({duration} + {timestamp})", "timestamp({int})",
        "timestamp({string})",
    ),
    "duration": (
        "({duration} + {duration})", "({timestamp} - {timestamp})", "({duration} - {duration})",
        "duration({number})", "-({duration})",
    ),
    "quantity": (
        "{quantity}.add({quantity})", "{quantity}.sub({int})", "{quantity}.add({int})", "quantity({number})",
    ),
    "semver": (
        "semver({number})", "semver({number}, true)",
    ),
    "ip": (
        "{cidr}.ip()", "ip({number})",
    ),
    "cidr": (
        "{cidr}.masked()", "cidr({number})",
    ),
    "url": (
        "url({number})",
    ),
    "optional<int>": (
        "optional.of({int})", "optional.ofNonZeroValue({int})", "{list<int>}[?{int}]",
        "{optional<int>}.or({optional<int>})", "{optional<int>}.optMap(x, x + {int})", "{list<int>}.first()",
    ),
    "optional<string>": (
        "{map<string,string>}[?{string}]", "{map<string,string>}.?a", "optional.of({string})",
    ),
    "type": (
        "type({dyn})", "type({timestamp})", "type({optional<int>})", "type({list<int>})", "type({quantity})",
    ),
}  # fmt: skip
"""Type -> texts that have it, with other types in braces."""
KINDS = tuple(FORMS)


def expression(chance: random.Random, kind: str, depth: int) -> str:
    """A random expression that gives what `kind` says, if it does not fail."""
    forms = FORMS.get(kind, ())
    if depth <= 0 or not forms or chance.random() < 0.15:
        return chance.choice(ATOMS[kind])
    out, index, form = [], 0, chance.choice(forms)
    while index < len(form):
        end = form.find("}", index)
        name = form[index + 1 : end] if form[index] == "{" else ""
        if name in ATOMS:
            out.append(expression(chance, name, depth - 1))
            index = end + 1
        else:
            out.append(form[index])
            index += 1
    return "".join(out)


_PIECES = (
    "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "?.", "[?", "&&", "||", "!", "-", "+", "*", "/", "%", "<",
    "==", "in", "'", "\"", "'''", "r'", "b'", "\\", "1", "1u", "0x", "1.", ".5", "1e", "self", "x", "has", "all",
    "map", "true", "null", "if", "as", "//", "\n", " ", "é", "\x00", "`", "self.i", "'a'", "cel", "bind", "_",
    "__result__", "google.protobuf",
)  # fmt: skip


def damaged(chance: random.Random, text: str) -> str:
    """The text with one to three pieces put in, taken out or doubled."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.randint(0, 4))
        match chance.randint(0, 2):
            case 0:
                text = text[:at] + chance.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[end:]
            case _:
                text = text[:end] + text[at:]
    return text


def soup(chance: random.Random) -> str:
    """Pieces of CEL in no order."""
    return "".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 12)))
