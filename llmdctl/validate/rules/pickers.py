"""RTR: the flags of endpoint picker and sidecar, and the picker's rights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Check, Hit, Outcome, Rule, Severity, Skip
from llmdctl.manifest.typed import nearest
from llmdctl.router.picker_flags import LEASES, RIGHTS, known_flags, unknown_flag
from llmdctl.router.sidecar import MODEL_SERVER_PORT_SINCE, REMOVED, SECURE_SERVING_SINCE
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import View


def check_flags(view: View) -> Iterator[Outcome]:
    """RTR040: a flag that the picker's version doesn't take."""
    for epp in view.epps:
        if epp.version is None:
            yield Skip("the endpoint picker's version is not known", epp.place)
            continue
        for name, flag in epp.flags.by_name.items():
            reason = unknown_flag(name, epp.version)
            if reason:
                close = nearest(name, sorted(known_flags())) if reason == "is not known" else ""
                fix = f"did you mean --{close}?" if close else "remove it"
                yield Hit(flag.place, f"--{name} {reason} (endpoint picker {epp.version})", fix=fix)


def check_choice(view: View) -> Iterator[Outcome]:
    """RTR041: flags of which the picker wants exactly one."""
    for epp in view.epps:
        pool, selector = epp.flags.get("pool-name"), epp.flags.get("endpoint-selector")
        if pool is not None and selector is not None:
            yield Hit(selector.place, "the picker takes either --pool-name or --endpoint-selector", fix="remove one")
        elif pool is None and selector is None and epp.container.args:
            yield Hit(epp.container.at("args"), "the picker is told neither --pool-name nor --endpoint-selector",
                      fix="give --pool-name")  # fmt: skip
        file, text = epp.flags.get("config-file"), epp.flags.get("config-text")
        if file is not None and text is not None:
            yield Hit(text.place, "the picker takes either --config-file or --config-text", fix="remove one")


def check_sidecar_flags(view: View) -> Iterator[Outcome]:
    """RTR042: a flag that the sidecar's version doesn't take."""
    for template in view.templates:
        sidecar = template.sidecar
        if sidecar is None or sidecar.is_legacy:
            continue
        version = sidecar.version
        if version is None:
            yield Skip("the sidecar's version is not known", sidecar.place)
            continue
        for flag in sidecar.command.flags:
            gone = flag.name in REMOVED and version.at_least(0, 10)
            early = (flag.name == "model-server-port" and not version.at_least(*MODEL_SERVER_PORT_SINCE)) or (
                flag.name == "secure-serving" and not version.at_least(*SECURE_SERVING_SINCE)
            )
            if gone:
                yield Hit(
                    sidecar.place_of(flag.name), f"{template.lead}sidecar {version} has no --{flag.name} any more",
                    fix=f"write --{REMOVED[flag.name]}",
                )  # fmt: skip
            elif early:
                older = {"model-server-port": "vllm-port", "secure-serving": "secure-proxy"}[flag.name]
                yield Hit(
                    sidecar.place_of(flag.name), f"{template.lead}sidecar {version} does not know --{flag.name} yet",
                    fix=f"write --{older}",
                )  # fmt: skip


def check_rights(view: View) -> Iterator[Outcome]:
    """RTR043: the picker may not read what it needs."""
    for epp in view.epps:
        account = epp.template.node.at("spec", "serviceAccountName").text()
        if not account or not view.rights.is_stated or epp.flags.get("pool-name") is None:
            continue
        if view.rights.refers_outside(account, epp.template.namespace):
            continue
        given = list(view.rights.grants(account, epp.template.namespace))
        wanted = [*RIGHTS, *([LEASES] if epp.flags.is_true("ha-enable-leader-election") else [])]
        for group, resource, verbs in wanted:
            lacking = [verb for verb in verbs if not _allows(given, group, resource, verb)]
            if lacking and view.complete and not view.is_whole_outside:
                yield Skip("a ClusterRoleBinding, which was not read, may grant what Roles do not", epp.place)
            elif lacking and (given or view.complete):
                named = f"{resource}.{group}" if group else resource
                yield Hit(
                    epp.place, f"the picker's ServiceAccount {account} may not {', '.join(lacking)} {named}",
                    fix=f"grant {', '.join(verbs)} on {named}",
                )  # fmt: skip


def _allows(
    given: list[tuple[frozenset[str], frozenset[str], frozenset[str]]], group: str, resource: str, verb: str
) -> bool:
    return any(
        {group, "*"} & groups and {resource, "*"} & resources and {verb, "*"} & verbs
        for groups, resources, verbs in given
    )


def check_experimental(view: View) -> Iterator[Outcome]:
    """RTR013: plugins that need a flag which isn't given."""
    for config in view.picker_configs:
        if config.epp is None or config.epp.flags.is_true("allow-experimental-plugins"):
            continue
        names = config.experimental
        if names:
            yield Hit(
                config.node.place, f"{', '.join(names)} need --allow-experimental-plugins, which is not given",
                evidence=(seen("its arguments", config.epp.flags.place),),
            )  # fmt: skip


_REFUSED = "the endpoint picker exits while it starts, and is restarted for ever"
_OPTIONS = "llm-d-router pkg/epp/server/options.go"


def _rule(code: str, title: str, why: str, fix: str, check: Check, reference: str, needs: str = "epps") -> Rule:
    return Rule(code, Severity.ERROR, title, why, fix, (reference,), needs=frozenset({needs}), check=check)


PICKER_RULES: Iterable[Rule] = (
    _rule(
        "RTR013", "experimental plugins are used without the flag that allows them", _REFUSED,
        "give the picker --allow-experimental-plugins, or use other plugins", check_experimental, _OPTIONS, "configs",
    ),
    _rule(
        "RTR040", "the endpoint picker is given a flag that its version does not take", _REFUSED,
        "use the flags of this version", check_flags, _OPTIONS,
    ),
    _rule(
        "RTR041", "the endpoint picker is given none or both of two flags", _REFUSED,
        "give exactly one of --pool-name and --endpoint-selector, and at most one config", check_choice, _OPTIONS,
    ),
    _rule(
        "RTR042", "the routing sidecar is given a flag that its version does not take",
        "the sidecar exits with `unknown flag`, and the pod never becomes ready", "use the flags of this version",
        check_sidecar_flags, "llm-d-router pkg/sidecar/proxy/options.go", "workloads",
    ),
    _rule(
        "RTR043", "the endpoint picker may not read what it needs",
        "its watches fail: it sees no pool and no pods, and answers no request", "grant the missing verbs",
        check_rights,
        "llm-d-router config/charts",
    ),
)  # fmt: skip
