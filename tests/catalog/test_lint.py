"""`catalog lint`: a good catalog has no problem, and each fault is named with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmdctl.catalog.lint import lint_catalog
from llmdctl.findings import UserError

ENTRY = "apiVersion: catalog.llmdctl.io/v1alpha1\n"
PROVIDER = ENTRY + "kind: Provider\nname: moon\n"
TINY = "guides/tiny/guide.yaml"


def problems(directory: Path) -> list[str]:
    return [str(problem) for problem in lint_catalog(directory)]


def one_problem(directory: Path) -> str:
    found = problems(directory)
    assert len(found) == 1, found
    return found[0]


def spoil(root: Path, file: str, old: str, new: str) -> None:
    path = root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_ours_and_the_example_are_clean(root: Path, own: Path) -> None:
    assert problems(root) == []
    assert problems(own) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("engine.yaml", "title: Toy engine", "titel: Toy engine", "engine.yaml:4:1: titel: unknown field"),
        ("engine.yaml", "[toy, serve]", "toy serve", "engine.yaml:6:1: command: expected a list"),
        ("engine.yaml", "name: scratch,", "name: missing,", "mounts[0].name: no volume 'missing'"),
        ("hardware/acme.yaml", "extends: generic", "extends: genric", "did you mean 'generic'?"),
        ("hardware/acme.yaml", "extends: generic", "extends: lab", "provider lab extends itself"),
        ("hardware/acme.yaml", "acceleratorFamily: acme", "acceleratorFamily: acne", "no acceleratorFamily 'acne'"),
        ("hardware/acme.yaml", "name: firmware, hostPath", "name: firm, hostPath", "no volume 'firmware'"),
        ("hardware/acme.yaml", ", hostPath: {path: /opt/firmware}", "", "exactly one source"),
        ("images.yaml", "defaultRelease: lab", "defaultRelease: lap", "there is no release set 'lap'"),
        ("images.yaml", "      toy-nvidia: *image\n", "", "no image 'toy-nvidia', which the matrix needs"),
        (TINY, "engines: [toy]", "engines: [tay]", "guide.yaml:16:13: matrix[0].engines[0]: there is no engine 'tay'"),
        (TINY, "providers: [lab]", "providers: []", "matrix[0].providers: must not be empty"),
        (TINY, "providers: [generic]", "providers: [generic, lab]", "toy acme-x1 lab is listed in matrix[0] already"),
        (TINY, "source: our own room", 'source: " "', "matrix[0].status.source: must say where"),
        (TINY, "date: 2026-11}", "date: lately}", "matrix[0].status.date: 'lately' does not match"),
        (TINY, "unsupported: [networkPolicy]", "unsupported: [networkPolice]", "did you mean networkPolicy?"),
        (
            TINY,
            "objects:",
            "verification: [{name: x, when: {engine: tay}, expect: {status: 200}}]\nobjects:",
            "verification[0].when.engine: there is no engine 'tay'",
        ),
        (
            TINY,
            "objects:",
            "verification: [{name: x, target: render, expect: {status: 200}}]\nobjects:",
            "verification[0].target: without kvEvents no Service tokenises prompts",
        ),
        (TINY, "objects:", "kvEvents: {port: 0, blockSize: 64}\nobjects:", "kvEvents.port: 0 is less than 1"),
        (TINY, "objects:", "kvEvents: {port: 1, blockSize: 0}\nobjects:", "kvEvents.blockSize: 0 is less than 1"),
        (TINY, "roles: [decode]", "roles: [decoder]", "there is no role 'decoder'"),
        (TINY, "workloads: [deployment]", "workloads: [job]", "there is no workload 'job'"),
        (TINY, "decode: {replicas: 2}", "prefill: {replicas: 2}", "presets.two.defaults.roles.prefill: the guide has"),
        (TINY, "decode: {replicas: 2}", "decode: {replica: 2}", "presets.two.defaults.roles.decode.replica: unknown"),
        (TINY, "  provider: lab", "  provider: lap", "defaults.provider: there is no provider 'lap'"),
        (TINY, "  provider: lab\n", "", "defaults: engine, accelerator and provider need a default"),
        (TINY, "  provider: lab\n", "  provider: gke\n", "defaults: the matrix does not list toy acme-x1 gke"),
        (TINY, "{roles: {decode: {replicas: 2}}}", "{provider: gke}", "two.defaults: the matrix does not list toy"),
        (
            TINY,
            "decode: {replicas: 2}}}",
            "decode: {replicas: 2}}}\n    variants: [{accelerators: [acme-x9], defaults: {}}]",
            "presets.two.variants[0].accelerators[0]: there is no accelerator 'acme-x9'",
        ),
        (
            TINY,
            "decode: {replicas: 2}}}",
            "decode: {replicas: 2}}}\n    variants: [{accelerators: [acme-x1], defaults: {roles: {prefill: {}}}}]",
            "presets.two.variants[0].defaults.roles.prefill: the guide has",
        ),
        (TINY, "objects:", "refused: [{when: {devices: dre}, why: a, fix: b}]\nobjects:", "did you mean 'dra'?"),
        (TINY, "objects:", "refused: [{when: {}, why: a, fix: b}]\nobjects:", "refused[0].when: must name a choice"),
        (TINY, "objects:", "refused: [{when: {role: decode}, why: a, fix: b}]\nobjects:", "and no role"),
        (TINY, "thing.yaml.j2", "thong.yaml.j2", "there is no template 'thong.yaml.j2'"),
        (TINY, "thing.yaml.j2", "../README.md", "there is no template '../README.md'"),
        (TINY, "thing.yaml.j2", "/etc/passwd", "there is no template '/etc/passwd'"),
        (TINY, "thing.yaml.j2", "x" * 5000, "there is no template 'xxx"),
        ("guides/tiny/README.md", "# Tiny", "Tiny", "README.md: has no title"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(spoiled: Path, file: str, old: str, new: str, says: str) -> None:
    spoil(spoiled, file, old, new)
    found = problems(spoiled)
    assert any(says in problem for problem in found), found


CONTRIBUTIONS = {
    "env: [{name: A, value: x}, {name: A, value: z}]": "'A' stands in the list twice",
    "env: [{name: A, value: 1}]": "put it in quotes",
    "env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: y}}}]": "exclude each other",
    "env: [{name: A, valeu: x}]": "a variable has name, and value or valueFrom",
    "env: [{value: x}]": "needs its name",
    "volumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]": "'a' stands in the list twice",
    "volumes: [{name: a, emptyDir: {}, hostPath: {path: /}}]": "exactly one source",
    "claims: [{name: c, count: 1, requests: []}]": "at least one device",
    "claims: [{name: c, count: {perRank: 1, perRole: 1}, requests: [{name: r}]}]": "exactly one of perAccelerator",
    "resources: {limits: {cpu: {}}}": "exactly one of perAccelerator",
}


@pytest.mark.parametrize(("add", "says"), CONTRIBUTIONS.items())
def test_parts_of_a_contribution_must_fit(tmp_path: Path, add: str, says: str) -> None:
    (tmp_path / "moon.yaml").write_text(PROVIDER + f"contributions:\n- add: {{{add}}}\n")
    found = one_problem(tmp_path)
    assert says in found
    assert "moon.yaml:5:" in found


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ("guide: nope", "there is no guide 'nope'"),
        ("engine: [vllm, vlm]", "when.engine[1]: there is no engine 'vlm' (did you mean 'vllm'?)"),
        ("transport: nixel", "did you mean 'nixl'?"),
        ("transport: simulatd", "did you mean 'simulated'?"),
        ("devices: dre", "did you mean 'dra'?"),
        ("release: '7'", "there is no release '7'"),
        ("router: standalon", "did you mean 'standalone'?"),
        ("workload: pod", "there is no workload 'pod'"),
        ("role: decod", "did you mean 'decode'?"),
    ],
)
def test_conditions_name_known_things(tmp_path: Path, when: str, says: str) -> None:
    (tmp_path / "moon.yaml").write_text(PROVIDER + f"contributions:\n- when: {{{when}}}\n  add: {{}}\n")
    assert says in one_problem(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "a: {{ role.name }}",
        "a: {x: {{ role.name }}, y: [{{ role.a }}, {{ role.b }}]}",
        "- {{ role.name }}",
        "{{ role.key }}: {{ role.value }} # note",
        'a: {"b": {{ role.name }}}',
        "a: it's {b}\nb: {{ role.name }}",
        "{% if role.sidecar %}\na: 1\n{% elif not role.pod.volumes %}\nb: 2\n{% endif %}",
        "{% if role.sidecar is defined %}{% endif %}",
        "{% for role in plan.roles %}\n- {{ role.name }}\n{% endfor %}",
        "{# a comment with {{ x }} inside: 'a' #}a: 1",
    ],
)
def test_templates_that_only_print_are_clean(spoiled: Path, line: str) -> None:
    (spoiled / "guides/tiny/templates/thing.yaml.j2").write_text(line + "\n")
    assert problems(spoiled) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{% if role.name == 'decode' %}{% endif %}", ":1: {% if %} on something else than presence"),
        ("a: 1\n{% if role.a and role.b %}\n{% endif %}", ":2: {% if %} on"),
        ("{% if role.a %}\n{% elif len(role.b) %}\n{% endif %}", "{% if %} on"),
        ("{% if role['a'] %}{% endif %}", "{% if %} on"),
        ("a: {{ 1 if role.a else 2 }}", "chosen inside {{ }}"),
        ("{% for r in roles if r.name == 'x' %}{% endfor %}", "loop filters"),
        ('a: "{{ role.name }}"', "stands inside a text"),
        ("a: 'x, {{ role.name }}'", "stands inside a text"),
        ("a: x-{{ role.name }}", "stands inside a text after 'a: x-'"),
        ("a: {{ role.name }}-x", "text follows {{ }}: '-x'"),
        ("a: {{ role.a }}{{ role.b }}", "text follows"),
        ("a: {{ role.a }} {{ role.b }}", "text follows"),
        ("a: {{ role.name", "not valid Jinja"),
        ("{% if role %}", "not valid Jinja"),
        ("a: {{ " + "(" * 5000 + "x" + ")" * 5000 + " }}", "nested too deeply"),
    ],
)
def test_templates_that_decide_or_compose_are_named(spoiled: Path, text: str, says: str) -> None:
    (spoiled / "guides/tiny/templates/thing.yaml.j2").write_text(text + "\n")
    assert says in "\n".join(problems(spoiled))


def test_unreadable_files_are_problems_and_the_rest_is_still_checked(spoiled: Path) -> None:
    (spoiled / "broken.yaml").write_text("a: [\n")
    (spoiled / "guides/tiny/templates/thing.yaml.j2").write_bytes(b"\xff")
    spoil(spoiled, "hardware/acme.yaml", "extends: generic", "extends: genric")
    text = "\n".join(problems(spoiled))
    assert "broken.yaml:2:1: not valid YAML" in text
    assert "can't be read as text" in text
    assert "genric" in text


def test_names_are_unique_across_files(spoiled: Path) -> None:
    (spoiled / "again.yaml").write_text(PROVIDER.replace("moon", "lab"))
    assert "Provider lab is also in" in "\n".join(problems(spoiled))


def test_a_missing_readme_is_a_problem(spoiled: Path) -> None:
    (spoiled / "guides/tiny/README.md").unlink()
    assert "a guide needs a README.md" in one_problem(spoiled)


def test_our_layout_names_files_by_their_entries(tmp_path: Path) -> None:
    folder = tmp_path / "guides/_catalog/providers"
    folder.mkdir(parents=True)
    (folder / "mars.yaml").write_text(PROVIDER)
    found = one_problem(tmp_path)
    assert "Provider moon does not belong into this file" in found
    assert "providers/moon.yaml" in found


def test_cycles_of_providers_are_found(tmp_path: Path) -> None:
    for name, extends in (("a", "b"), ("b", "c"), ("c", "a")):
        text = PROVIDER.replace("moon", name) + f"extends: {extends}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    assert sum("extends itself" in problem for problem in problems(tmp_path)) == 3


def test_what_is_no_catalog_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no catalog entry"):
        lint_catalog(tmp_path)
    with pytest.raises(UserError, match="there is no directory"):
        lint_catalog(tmp_path / "absent")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("blockFlag: block-size", "blockFlag: blok-size", "kvEvents.blockFlag: no known version of vllm has a flag"),
        (
            "{enable-prefix-caching: true}",
            "{enable-prefx-caching: true}",
            "kvEvents.args.enable-prefx-caching: no known",
        ),
        ("{enable-scale-out: true}", "{enable-scale-oot: true}", "enable-scale-oot"),
    ],
)
def test_flags_of_kv_events_are_those_of_the_engine(root: Path, tmp_path: Path, old: str, new: str, says: str) -> None:
    ours = root / "guides/_catalog/engines/vllm.yaml"
    (tmp_path / "vllm.yaml").write_text(ours.read_text(encoding="utf-8"), encoding="utf-8")
    assert problems(tmp_path) == []
    spoil(tmp_path, "vllm.yaml", old, new)
    assert says in one_problem(tmp_path)
