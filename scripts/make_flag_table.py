"""Makes a flag table from a published engine package, by reading its Python source without importing it.

    python scripts/make_flag_table.py vllm 0.30.0
    python scripts/make_flag_table.py sglang 0.5.20 --from sglang-0.5.20-....whl

Without --from the package is fetched from the package index that pip uses: the sdist if there is one, else a wheel.
Writes llmdctl/engines/data/<engine>-<version>.json (one flag a line) and its provenance.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "llmdctl" / "engines" / "data"
JSON_FLAGS = {"default-chat-template-kwargs", "hf-overrides", "limit-mm-per-prompt"}


@dataclass
class Package:
    """The Python files of a package, by path inside it, parsed on demand."""

    name: str
    digest: str
    sources: dict[str, str]
    parsed: dict[str, ast.Module] = field(default_factory=dict)

    def tree(self, path: str) -> ast.Module:
        """The syntax tree of a file. Exits when the package lacks it: its layout changed."""
        if path not in self.sources:
            sys.exit(f"{self.name} has no {path}: its layout changed, and this script has to learn it")
        if path not in self.parsed:
            self.parsed[path] = ast.parse(self.sources[path])
        return self.parsed[path]

    def find(self, pattern: str) -> list[str]:
        """Paths that match a regular expression."""
        return sorted(path for path in self.sources if re.fullmatch(pattern, path))


def fetch(engine: str, version: str, folder: Path) -> Path:
    """Downloads the smallest archive with the source: the sdist, else the first wheel."""
    from pip._internal.models.index import PyPI

    index = (os.environ.get("PIP_INDEX_URL") or PyPI.simple_url).rstrip("/")
    page_url = f"{index}/{engine}/"
    with urllib.request.urlopen(page_url, timeout=60) as page:  # noqa: S310 - the index that pip is set up for
        links = re.findall(r'<a href="([^"#]+)[^>]*>([^<]+)</a>', page.read().decode())
    names = {name.strip(): urllib.parse.urljoin(page_url, url) for url, name in links}
    ours = [name for name in names if name == f"{engine}-{version}.tar.gz" or name.startswith(f"{engine}-{version}-")]
    if not ours:
        sys.exit(f"the package index has no {engine} {version}")
    chosen = min(ours, key=lambda name: (not name.endswith(".tar.gz"), "x86_64" not in name, name))
    target = folder / chosen
    urllib.request.urlretrieve(names[chosen], target)  # noqa: S310 - as above
    return target


def read_package(engine: str, archive: Path) -> Package:
    """All Python files of the engine's own package in an sdist or wheel."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    sources: dict[str, str] = {}
    for name, content in members(archive):
        _, found, inside = f"/{name}".partition(f"/{engine}/")
        if found and inside.endswith(".py"):
            sources.setdefault(inside, content.decode("utf-8"))
    return Package(archive.name, digest, sources)


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the Python files in an archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if name.endswith(".py"):
                    yield name, wheel.read(name)
        return
    with tarfile.open(archive) as sdist:
        for member in sdist:
            stream = sdist.extractfile(member) if member.name.endswith(".py") else None
            if stream is not None:
                # An sdist has the package below its own top folder.
                yield member.name.partition("/")[2], stream.read()


class Names:
    """Values of module-level names over all files read: literals, Literal aliases, lists, enum members."""

    def __init__(self) -> None:
        self._values: dict[str, ast.expr] = {}
        self._enums: dict[str, list[Any]] = {}

    def read(self, tree: ast.Module) -> None:
        """Remembers assignments and enums of a module."""
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._values.setdefault(node.targets[0].id, node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self._values.setdefault(node.target.id, node.value)
            elif isinstance(node, ast.ClassDef):
                members = [
                    item.value.value
                    for item in node.body
                    if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant)
                ]
                self._enums.setdefault(node.name, members)

    def type_of(self, node: ast.expr, depth: int = 0) -> ast.expr:
        """The annotation behind a name, when that is an alias."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.type_of(ast.parse(node.value, mode="eval").body, depth + 1)
        if isinstance(node, ast.Name) and node.id in self._values and depth < 8:
            return self.type_of(self._values[node.id], depth + 1)
        return node

    def values(self, node: ast.expr | None) -> list[str] | None:
        """The strings of a list, tuple, set, sum, star or name of them; None when the source does not spell them."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            out: list[str] = []
            for item in node.elts:
                if isinstance(item, ast.Constant):
                    out.append(str(item.value))
                    continue
                inner = self.values(item.value) if isinstance(item, ast.Starred) else None
                if inner is None:
                    return None
                out.extend(inner)
            return out
        if isinstance(node, ast.Name) and node.id in self._values:
            return self.values(self._values[node.id])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.values(node.left), self.values(node.right)
            return None if left is None or right is None else left + right
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("list", "tuple", "sorted")
        ):
            return self.values(node.args[0]) if node.args else []
        return None

    def literal(self, node: ast.expr) -> list[str]:
        """All choices of the Literals in an annotation, aliases followed."""
        node = self.type_of(node)
        if isinstance(node, ast.Subscript) and base_name(node.value) == "Literal":
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            out: list[str] = []
            for item in items:
                out.extend([str(item.value)] if isinstance(item, ast.Constant) else self.literal(item))
            return out
        found: list[str] = []
        for part in union_parts(node):
            if part is not node:
                found.extend(self.literal(part))
        return found


def base_name(node: ast.expr) -> str:
    """The last name of `a.b.C` or `C`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def union_parts(node: ast.expr) -> list[ast.expr]:
    """The members of `A | B`, Optional[A] or Union[A, B]; Annotated and SkipValidation count as what they wrap."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return union_parts(node.left) + union_parts(node.right)
    if isinstance(node, ast.Subscript):
        name = base_name(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in ("Optional", "Union"):
            return [part for item in items for part in union_parts(item)]
        if name in ("Annotated", "SkipValidation", "A"):
            return union_parts(items[0])
    return [node]


SCALARS = {"bool": "bool", "int": "int", "float": "float", "str": "str"}


def kind_of(annotation: ast.expr, names: Names, dataclasses: set[str]) -> tuple[str, list[str]]:
    """The kind of flag that an annotation makes, and its choices. Order as in vLLM's get_kwargs."""
    parts = [part for raw in union_parts(annotation) for part in union_parts(names.type_of(raw))]
    bases = {base_name(part.value) if isinstance(part, ast.Subscript) else base_name(part) for part in parts}
    choices = names.literal(annotation)
    if bases & dataclasses:
        return "json", []
    if "bool" in bases and "str" not in bases:
        return "bool", []
    if choices:
        return ("enum-open" if bases & {"str", "dict"} else "enum"), choices
    if bases & {"list", "List", "tuple", "Tuple", "set", "Set", "Sequence"}:
        # A list that may also be one value still takes several words.
        return "list", []
    for name in ("int", "float"):
        if name in bases:
            return name, []
    if bases & {"dict", "Dict"}:
        return "json", []
    return ("str" if "str" in bases else "unknown"), []


def fields_of(tree: ast.Module, class_name: str) -> dict[str, tuple[ast.expr, ast.expr | None]]:
    """Annotated attributes of a class: name -> (annotation, default)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            return {
                item.target.id: (item.annotation, item.value)
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
    return {}


def default_text(node: ast.expr | None) -> str:
    """The default as source; a pydantic or dataclass Field's own default."""
    if isinstance(node, ast.Call) and base_name(node.func) in ("Field", "field"):
        for keyword in node.keywords:
            if keyword.arg == "default":
                return default_text(keyword.value)
        return ast.unparse(node.args[0]) if node.args else ""
    return "" if node is None else ast.unparse(node)


Facts = dict[str, Any]


def facts(kind: str, choices: list[str], default: str = "", aliases: list[str] | None = None) -> Facts:
    """A flag's entry; empty values are left out."""
    out: Facts = {"kind": kind, "choices": choices, "default": default, "aliases": aliases or []}
    return {key: value for key, value in out.items() if value}


def from_call(call: ast.Call, names: Names) -> Facts:
    """The entry of an add_argument call that spells everything out."""
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    action = given.get("action")
    action_name = action.value if isinstance(action, ast.Constant) else base_name(action) if action else ""
    choices = names.values(given.get("choices")) or []
    if action_name in ("store_true", "store_false", "BooleanOptionalAction"):
        kind = "bool"
    elif "choices" in given:
        kind = "enum" if choices else "str"
    elif "nargs" in given or action_name == "append":
        kind = "list"
    else:
        kind = SCALARS.get(base_name(given["type"]) if "type" in given else "str", "unknown")
        if "type" in given and ast.unparse(given["type"]) in ("json.loads", "parse_type(json.loads)"):
            kind = "json"
    return facts(kind, choices, default_text(given.get("default")))


def flag_names(call: ast.Call) -> list[str]:
    """The option strings of an add_argument call."""
    texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return [text for text in texts if text.startswith("-")]


def put(flags: dict[str, Facts], options: list[str], entry: Facts) -> None:
    """Files an entry under its long name, the other option strings as aliases."""
    long = [option for option in options if option.startswith("--")]
    if long:
        rest = [option for option in options if option != long[0]]
        flags[long[0]] = {**entry, **({"aliases": rest} if rest else {})}


def vllm_table(package: Package) -> dict[str, Any]:
    """vLLM: config dataclasses, EngineArgs.add_cli_args, the frontend's dataclass and its parser."""
    names, classes = Names(), {}
    for path in [*package.find(r"config/.*\.py"), "engine/arg_utils.py"]:
        tree = package.tree(path)
        names.read(tree)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] = fields_of(tree, node.name)
                for base in node.bases:
                    classes[node.name] = {**classes.get(base_name(base), {}), **classes[node.name]}
    for path in package.sources:
        if path.startswith(("v1/attention/", "platforms/", "model_executor/layers/quantization/")):
            names.read(package.tree(path))
    configs = {name for name in classes if name.endswith("Config")}
    flags: dict[str, Facts] = {}
    for function in ast.walk(package.tree("engine/arg_utils.py")):
        if isinstance(function, ast.FunctionDef) and function.name == "add_cli_args":
            read_parser(function, flags, classes, names, configs)
    frontend = package.find(r"entrypoints/(openai|launchers|common)/cli_args\.py")
    tree = package.tree(frontend[0])
    names.read(tree)
    for class_name in ("BaseFrontendArgs", "FrontendArgs"):
        for name, (annotation, default) in fields_of(tree, class_name).items():
            option = "--" + name.replace("_", "-")
            kind, choices = kind_of(annotation, names, configs)
            if option[2:] in JSON_FLAGS:
                kind = "json"
            flags[option] = facts(kind, choices, default_text(default))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "make_arg_parser":
            read_parser(function, flags, classes, names, configs)
    return {
        "flags": flags,
        "kv_connectors": connectors(package.tree("distributed/kv_transfer/kv_connector/factory.py")),
        "kv_transfer_config_fields": field_types(package.tree("config/kv_transfer.py"), "KVTransferConfig"),
        "kv_events_config_fields": field_types(package.tree("config/kv_events.py"), "KVEventsConfig"),
        "env": environment(package.tree("envs.py")),
    }


def read_parser(
    function: ast.FunctionDef,
    flags: dict[str, Facts],
    classes: dict[str, dict[str, tuple[ast.expr, ast.expr | None]]],
    names: Names,
    configs: set[str],
) -> None:
    """Reads add_argument calls; `**x_kwargs["field"]` means the field of the class that `x_kwargs` came from."""
    sources: dict[str, str] = {}
    renamed: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            renamed[node.targets[0].id] = node.value
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and base_name(node.value.func) == "get_kwargs"
        ):
            target, argument = node.targets[0], node.value.args[0]
            if isinstance(target, ast.Name):
                sources[target.id] = base_name(argument)
    for node in ast.walk(function):
        if not (isinstance(node, ast.Call) and base_name(node.func) == "add_argument"):
            continue
        options = flag_names(node)
        spread = next((keyword.value for keyword in node.keywords if keyword.arg is None), None)
        if isinstance(spread, ast.Dict):
            # `**{**x_kwargs["field"], "default": None}`: the field, with another default.
            spread = next((v for k, v in zip(spread.keys, spread.values, strict=True) if k is None), None)
        if isinstance(spread, ast.Name):
            spread = renamed.get(spread.id)
        if isinstance(spread, ast.Subscript) and isinstance(spread.value, ast.Name):
            name = spread.slice.value if isinstance(spread.slice, ast.Constant) else ""
            annotation, default = classes[sources[spread.value.id]][str(name)]
            kind, choices = kind_of(annotation, names, configs)
            if options and options[0][2:] in JSON_FLAGS:
                kind = "json"
            put(flags, options, facts(kind, choices, default_text(default)))
        elif options:
            put(flags, options, from_call(node, names))


def connectors(tree: ast.Module) -> list[str]:
    """Names given to KVConnectorFactory.register_connector."""
    found = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and base_name(node.func) == "register_connector"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    return sorted(map(str, found))


def field_types(tree: ast.Module, class_name: str) -> dict[str, str]:
    """Fields of a dataclass with their annotations as text."""
    return {name: ast.unparse(annotation) for name, (annotation, _) in fields_of(tree, class_name).items()}


def environment(tree: ast.Module) -> list[str]:
    """Keys of vLLM's `environment_variables`."""
    for node in ast.walk(tree):
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if base_name(target) == "environment_variables" if target is not None else False:
            value = getattr(node, "value", None)
            if isinstance(value, ast.Dict):
                return sorted(str(key.value) for key in value.keys if isinstance(key, ast.Constant))
    sys.exit("envs.py has no environment_variables: its layout changed")


def sglang_table(package: Package) -> dict[str, Any]:
    """SGLang: fields annotated with A[type, help or Arg(...)], and what add_cli_args adds by hand."""
    names = Names()
    paths = ["srt/server_args.py", *package.find(r"srt/arg_groups/.*\.py")]
    for path in paths:
        names.read(package.tree(path))
    flags: dict[str, Facts] = {}
    for path in paths:
        for node in ast.walk(package.tree(path)):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                read_field(node.target.id, node.annotation, node.value, flags, names)
    for function in ast.walk(package.tree("srt/server_args.py")):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("add_cli_args"):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and base_name(node.func) == "add_argument":
                    put(flags, flag_names(node), from_call(node, names))
    return {"flags": flags}


def read_field(
    name: str, annotation: ast.expr, default: ast.expr | None, flags: dict[str, Facts], names: Names
) -> None:
    """One `field: A[type, "help"]` or `A[type, Arg(...)]`."""
    if not (isinstance(annotation, ast.Subscript) and base_name(annotation.value) in ("A", "Annotated")):
        return
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    call = next((part for part in parts if isinstance(part, ast.Call) and base_name(part.func) == "Arg"), None)
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg} if call else {}
    if call is None and not any(isinstance(part, ast.Constant | ast.JoinedStr | ast.BinOp) for part in parts[1:]):
        return
    no_cli = given.get("no_cli")
    if isinstance(no_cli, ast.Constant) and no_cli.value:
        return
    cli_name = given.get("cli_name")
    option = (
        str(cli_name.value) if isinstance(cli_name, ast.Constant) and cli_name.value else f"--{name}".replace("_", "-")
    )
    kind, choices = kind_of(parts[0], names, set())
    if "choices" in given:
        spelled = names.values(given["choices"])
        # Choices that a program computes are not in the source; a Literal beside them is.
        kind, choices = ("enum", spelled) if spelled else (kind, choices) if choices else ("str", [])
    if "type_parser" in given and "nargs" not in given and "json" in ast.unparse(given["type_parser"]):
        kind = "json"
    aliases = names.values(given.get("aliases")) or []
    flags[option] = facts(kind, choices, default_text(default), aliases)


READERS = {"vllm": vllm_table, "sglang": sglang_table}


def write(engine: str, version: str, table: dict[str, Any], package: Package) -> None:
    """Writes the table, one flag a line, and its provenance."""
    lines = [f'"engine": "{engine}",', f'"version": "{version}",', '"flags": {']
    items = sorted(table["flags"].items())
    lines += [
        f" {json.dumps(name)}: {json.dumps(entry)}{',' if i < len(items) - 1 else ''}"
        for i, (name, entry) in enumerate(items)
    ]
    rest = [(key, value) for key, value in table.items() if key != "flags"]
    lines.append("}," if rest else "}")
    lines += [
        f"{json.dumps(key)}: {json.dumps(value)}{',' if i < len(rest) - 1 else ''}"
        for i, (key, value) in enumerate(rest)
    ]
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / f"{engine}-{version}.json").write_text("{\n" + "\n".join(lines) + "\n}\n", encoding="utf-8")
    provenance = {
        "package": engine, "version": version, "file": package.name, "sha256": package.digest,
        "licence": "Apache-2.0", "script": "scripts/make_flag_table.py",
    }  # fmt: skip
    (DATA / f"{engine}-{version}.provenance.json").write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Command line: ENGINE VERSION [--from FILE]."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=sorted(READERS))
    parser.add_argument("version")
    parser.add_argument("--from", dest="source", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = options.source or fetch(options.engine, options.version, Path(folder))
        package = read_package(options.engine, archive)
    table = READERS[options.engine](package)
    if len(table["flags"]) < 100:
        sys.exit(f"only {len(table['flags'])} flags found: the package's layout changed")
    write(options.engine, options.version, table, package)
    print(f"{options.engine} {options.version}: {len(table['flags'])} flags")


if __name__ == "__main__":
    main()
