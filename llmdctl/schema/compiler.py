"""Turns raw schemas into nodes. One dialect for built-in kinds, one for CRDs, one for combinations inside CRDs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.schema.combine import enum_check, junctor_checks, keyed_check, unique_check
from llmdctl.schema.formats import known_format
from llmdctl.schema.node import NONE, Check, ListForm, MapForm, Node, ObjectForm, chain, fine, least_check, most_check
from llmdctl.schema.scalars import integer_types, number_checks, quantity_types, string_checks, typed_text_check

PRESERVE = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
LIST_TYPE = "x-kubernetes-list-type"
EITHER = "integer,string"
EMBEDDED = "x-kubernetes-embedded-resource"

_ANY = Node(dict.fromkeys((dict, list, str, int, float, bool, NONE), fine), "any", nullable=True)


class BuiltinCompiler:
    """Nodes of built-in kinds, with the decoder's view: null is absent, map keys of lists may repeat."""

    def __init__(self, definition: Callable[[str], Mapping[str, Any]]) -> None:
        self._definition = definition
        self._nodes: dict[str, Node] = {}

    def named(self, name: str) -> Node:
        """The node of a definition. Raises KeyError for a name that this minor does not have."""
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = self.compile(self._definition(name))
        return node

    def compile(self, schema: Mapping[str, Any]) -> Node:
        """The node of a schema of the committed data."""
        if "$ref" in schema:
            return self.named(schema["$ref"])
        if schema.get(PRESERVE):
            return _ANY
        if schema.get(INT_OR_STRING):
            integers = integer_types({"format": "int32"}, expected=EITHER)
            return Node({**integers, str: fine, NONE: fine}, EITHER, nullable=True)
        if schema.get("format") == "quantity":
            return Node({**quantity_types(), NONE: fine}, "number,string", nullable=True)
        return self._typed(schema)

    def _typed(self, schema: Mapping[str, Any]) -> Node:
        kind = schema["type"]
        form: ObjectForm | MapForm | ListForm | None = None
        if kind == "object" and "additionalProperties" in schema:
            form = MapForm(self.compile(schema["additionalProperties"]))
        elif kind == "object":
            form = ObjectForm(
                schema["properties"], self.compile, required=tuple(schema.get("required", ())), lenient=True
            )
        elif kind == "array":
            form = ListForm(self.compile(schema["items"]) if "items" in schema else None)
        check = form.check if form else typed_text_check(schema.get("format", "")) or fine
        types = integer_types(schema) if kind == "integer" else dict.fromkeys(_PYTHON[kind], check)
        return Node({**types, NONE: fine}, kind, form=form, nullable=True)


class CustomCompiler:
    """Nodes of structural schemas, as apiextensions-apiserver validates custom resources."""

    def __init__(self, object_meta: Node) -> None:
        self._object_meta = object_meta
        self._junctors = JunctorCompiler()

    def root(self, schema: Mapping[str, Any]) -> Node:
        """The node of a whole object: identity and metadata are there even when the schema does not name them."""
        return self._object(schema, embedded=True, required=())

    def compile(self, schema: Mapping[str, Any]) -> Node:
        """The node of a schema below the root."""
        if schema.get("type") == "object":
            embedded = bool(schema.get(EMBEDDED))
            return self._object(schema, embedded=embedded, required=("apiVersion", "kind") if embedded else ())
        if schema.get("type") == "array":
            items = self.compile(schema["items"]) if isinstance(schema.get("items"), Mapping) else None
            form = ListForm(items, tuple(_list_checks(schema)))
            return self._node(schema, {list: form.check}, "array", form)
        return self._node(schema, *_scalar_types(schema), None)

    def _object(self, schema: Mapping[str, Any], *, embedded: bool, required: tuple[str, ...]) -> Node:
        properties = schema.get("properties", {})
        extra = schema.get("additionalProperties")
        form: ObjectForm | MapForm
        if isinstance(extra, Mapping) and not properties:
            form = MapForm(self.compile(extra), str)
        else:
            form = ObjectForm(
                properties,
                self.compile,
                required=tuple(dict.fromkeys((*required, *schema.get("required", ())))),
                is_open=bool(schema.get(PRESERVE)) or extra is True,
                defaults=_defaults(properties),
                children=self._identity(properties) if embedded else None,
            )
        return self._node(schema, {dict: chain([form.check, *_size_checks(schema)])}, "object", form)

    def _identity(self, properties: Mapping[str, Any]) -> dict[str, Node]:
        text = Node({str: fine}, "string")
        wanted = properties.get("metadata", {})
        metadata = self._object_meta
        if wanted.get("properties") or wanted.get("required"):
            # A CRD may narrow the name; the fields themselves are those of ObjectMeta.
            narrow = self._junctors.compile(wanted)
            metadata = Node(
                metadata.by_type, "object", extras=(*metadata.extras, narrow.check), form=metadata.form, nullable=True
            )
        return {"apiVersion": text, "kind": text, "metadata": metadata}

    def _node(
        self,
        schema: Mapping[str, Any],
        types: Mapping[type, Check],
        expected: str,
        form: ObjectForm | MapForm | ListForm | None,
    ) -> Node:
        extras = junctor_checks(schema, self._junctors.compile)
        if "enum" in schema:
            extras.insert(0, enum_check(schema["enum"]))
        nullable = bool(schema.get("nullable"))
        if nullable:
            types = {**types, NONE: fine}
        named = known_format(schema.get("format", ""), expected)
        return Node(
            types,
            expected,
            extras=tuple(extras),
            form=form,
            nullable=nullable,
            named=named,
            enumerated="enum" in schema,
        )


class JunctorCompiler:
    """Nodes of schemas inside allOf, anyOf, oneOf and not: they constrain values and declare no fields."""

    def compile(self, schema: Mapping[str, Any]) -> Node:
        """The node; a schema without a type holds for values of every type, each rule for its own."""
        types = self._types(schema)
        kind = schema.get("type")
        expected = EITHER if schema.get(INT_OR_STRING) else kind or "any"
        if kind and kind != "integer":
            types = {python: types[python] for python in _PYTHON[kind]}
        elif kind:
            types = integer_types(schema, chain(number_checks(schema)))
        if schema.get("nullable"):
            types = {**types, NONE: fine}
        extras = junctor_checks(schema, self.compile)
        if "enum" in schema:
            extras.insert(0, enum_check(schema["enum"]))
        return Node(types, expected, extras=tuple(extras), enumerated="enum" in schema)

    def _types(self, schema: Mapping[str, Any]) -> dict[type, Check]:
        form = ObjectForm(
            schema.get("properties", {}), self.compile, required=tuple(schema.get("required", ())), is_open=True
        )
        objects: list[Check] = [form.check, *_size_checks(schema)]
        if isinstance(schema.get("additionalProperties"), Mapping):
            objects.append(MapForm(self.compile(schema["additionalProperties"]), str).check)
        items = self.compile(schema["items"]) if isinstance(schema.get("items"), Mapping) else None
        numbers = chain(number_checks(schema))
        return {
            dict: chain(objects),
            list: ListForm(items, tuple(_list_checks(schema))).check,
            str: chain(string_checks(schema)),
            int: numbers,
            float: numbers,
            bool: fine,
            NONE: fine,
        }


def _scalar_types(schema: Mapping[str, Any]) -> tuple[Mapping[type, Check], str]:
    kind = schema.get("type")
    if schema.get(INT_OR_STRING):
        # Go's intstr holds an int32, and the webhook or controller that decodes the object refuses more. Quantities,
        # which may be larger, are told by the pattern that controller-gen writes for them.
        width = schema if "pattern" in schema else {**schema, "format": "int32"}
        integers = integer_types(width, chain(number_checks(schema)), EITHER)
        return {**integers, str: chain(string_checks(schema))}, EITHER
    if kind == "integer":
        return integer_types(schema, chain(number_checks(schema))), "integer"
    if kind == "number":
        check = chain(number_checks(schema))
        return {int: check, float: check}, "number"
    if kind == "string":
        return {str: chain(string_checks(schema))}, "string"
    if kind == "boolean":
        return {bool: fine}, "boolean"
    return _ANY.by_type, "any"


def _defaults(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value["default"] for key, value in properties.items() if "default" in value}


def _size_checks(schema: Mapping[str, Any]) -> list[Check]:
    checks = []
    if "minProperties" in schema:
        checks.append(least_check(schema["minProperties"], "properties"))
    if "maxProperties" in schema:
        checks.append(most_check(schema["maxProperties"], "properties"))
    return checks


def _list_checks(schema: Mapping[str, Any]) -> list[Check]:
    checks: list[Check] = []
    if "minItems" in schema:
        checks.append(least_check(schema["minItems"], "items"))
    if "maxItems" in schema:
        checks.append(most_check(schema["maxItems"], "items"))
    if schema.get(LIST_TYPE) == "map":
        checks.append(keyed_check(schema.get("x-kubernetes-list-map-keys", ())))
    if schema.get(LIST_TYPE) == "set" or schema.get("uniqueItems"):
        checks.append(unique_check)
    return checks


_PYTHON: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
}
