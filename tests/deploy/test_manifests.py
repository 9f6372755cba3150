"""What is in deploy/ is valid, and does what the documents say: compose, Kubernetes, HAProxy, Prometheus."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compose_spec
import kubernetes_validate
import pytest
import yaml

from service.app import TRANSLATING
from service.http.metrics import Metrics
from service.settings import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "kubernetes" / "base"
OPERATE = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
INTERPOLATED = re.compile(r"\$\{\w+:-([^}]*)\}")


def find(program: str) -> str:
    """A program's path; the test is skipped where there is none."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def containers(deployment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pod = deployment["spec"]["template"]["spec"]
    yield from pod["containers"]
    yield from pod.get("initContainers", [])


def deployment() -> dict[str, Any]:
    (found,) = documents(BASE / "deployment.yaml")
    return found


# -- compose -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compose.yaml", "compose.gpu.yaml"])
def test_compose_files_follow_the_specification(name: str) -> None:
    text = INTERPOLATED.sub(r"\1", (DEPLOY / name).read_text(encoding="utf-8"))
    compose = yaml.safe_load(text)  # which merges what is meant to be

    compose_spec.PyCompose.from_json(json.dumps(compose))

    compose["services"]["replica-1"] = {**compose["services"]["replica-1"], "read_onyl": True}
    with pytest.raises(ValueError, match="read_onyl"):
        compose_spec.PyCompose.from_json(json.dumps(compose))


def test_compose_hardens_every_container_and_shows_only_the_proxy() -> None:
    (compose,) = documents(DEPLOY / "compose.yaml")
    services = compose["services"]

    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert ("ports" in service) == (name == "proxy"), name
        assert ("outside" in service["networks"]) == (name == "proxy"), name
    assert compose["networks"]["inside"]["internal"] is True
    for replica in ("replica-1", "replica-2"):
        grace = int(services[replica]["stop_grace_period"].removesuffix("s"))
        assert grace > Settings.model_fields["shutdown_timeout_s"].default
    assert (
        "password"
        not in re.sub(
            r"#.*|postgres_password\w*|PASSWORD_FILE", "", (DEPLOY / "compose.yaml").read_text()
        ).lower()
    )


def test_addresses_of_replicas_in_compose_proxy_and_prometheus_agree() -> None:
    (compose,) = documents(DEPLOY / "compose.yaml")
    (prometheus,) = documents(DEPLOY / "prometheus" / "prometheus.yaml")
    presets = re.findall(r"presetenv REPLICA_\d (\S+)", (DEPLOY / "haproxy.cfg").read_text())

    replicas = [f"{name}:8000" for name in compose["services"] if name.startswith("replica-")]

    assert presets == replicas
    assert prometheus["scrape_configs"][0]["static_configs"][0]["targets"] == replicas


# -- Kubernetes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(BASE.glob("[!k]*.yaml")), ids=lambda path: path.name)
def test_kubernetes_manifests_follow_the_schema(path: Path) -> None:
    for document in documents(path):
        kubernetes_validate.validate(document, "1.37", strict=True)

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**document, "specc": {}}, "1.37", strict=True)


def test_kustomization_lists_every_manifest() -> None:
    (kustomization,) = documents(BASE / "kustomization.yaml")

    assert sorted(kustomization["resources"]) == sorted(path.name for path in BASE.glob("[!k]*.yaml"))


@pytest.mark.parametrize("variant", ["base", "gpu"])
def test_kustomized_manifests_follow_the_schema(variant: str) -> None:
    shown = subprocess.run(
        [find("kubectl"), "kustomize", DEPLOY / "kubernetes" / variant],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    made = {document["kind"]: document for document in yaml.safe_load_all(shown)}

    for document in made.values():
        kubernetes_validate.validate(document, "1.37", strict=True)
    pod = made["Deployment"]["spec"]["template"]["spec"]
    limits = pod["containers"][0]["resources"]["limits"]
    assert ("nvidia.com/gpu" in limits) == ("nodeSelector" in pod) == (variant == "gpu")
    settings = {variable["name"] for variable in pod["containers"][0]["env"]}
    assert {"PASSERELLE_SECRETS_DIR", "PASSERELLE_KEYS"} <= settings


def test_pods_have_no_rights_and_a_drain_that_fits_their_grace_period() -> None:
    pod = deployment()["spec"]["template"]["spec"]

    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in containers(deployment()):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    (served,) = pod["containers"]
    pause = int(served["lifecycle"]["preStop"]["exec"]["command"][1])
    drain = Settings.model_fields["shutdown_timeout_s"].default
    assert pod["terminationGracePeriodSeconds"] > pause + drain
    probe = served["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] < pause, "nobody sends requests to who goes"
    assert probe["httpGet"]["path"] == "/health/ready"
    assert served["livenessProbe"]["httpGet"]["path"] == "/health/live"


def test_autoscaler_disruption_budget_and_policy_are_about_the_deployment() -> None:
    (autoscaler,) = documents(BASE / "autoscaler.yaml")
    labels = deployment()["spec"]["template"]["metadata"]["labels"].items()

    assert autoscaler["spec"]["scaleTargetRef"]["name"] == deployment()["metadata"]["name"]
    assert autoscaler["spec"]["minReplicas"] >= 2
    metric = autoscaler["spec"]["metrics"][0]["pods"]["metric"]["name"]
    assert metric in Metrics().render().decode()
    assert metric in (DEPLOY / "prometheus" / "adapter.yaml").read_text()
    for name, selector in (("disruption-budget.yaml", "selector"), ("network-policy.yaml", "podSelector")):
        (document,) = documents(BASE / name)
        assert document["spec"][selector]["matchLabels"].items() <= labels, name


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.yaml")), ids=lambda path: path.name)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    known = {f"PASSERELLE_{name.upper()}" for name in Settings.model_fields}
    known |= {"PASSERELLE_SECRETS_DIR", "PASSERELLE_IMAGE"}

    assert set(re.findall(r"PASSERELLE_\w+", path.read_text(encoding="utf-8"))) <= known


# -- proxy and monitoring ------------------------------------------------------------------------------------


def test_the_proxy_accepts_its_configuration() -> None:
    environment = {"PATH": os.environ["PATH"], "REPLICA_1": "127.0.0.1:1", "REPLICA_2": "127.0.0.1:2"}
    checked = subprocess.run(
        [find("haproxy"), "-c", "-f", DEPLOY / "haproxy.cfg"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr


def test_the_ingress_asks_again_only_what_only_translates() -> None:
    again, _ = documents(BASE / "ingress.yaml")
    paths = {path["path"] for path in again["spec"]["rules"][0]["http"]["paths"]}

    assert paths == {*TRANSLATING, "/libretranslate/translate"}


def test_the_proxy_asks_again_only_what_only_translates() -> None:
    text = (DEPLOY / "haproxy.cfg").read_text()
    paths = " ".join(re.findall(r"acl translates path (.*)", text)).split()

    assert set(paths) == {
        *TRANSLATING, "/libretranslate/translate", "/libretranslate/detect", "/detect", "/microsoft/detect",
        "/language/translate/v2/detect",
    }  # fmt: skip
    assert "http-request disable-l7-retry unless translates or reads" in text


def test_every_alarm_is_about_metrics_that_exist_and_is_explained() -> None:
    shown = Metrics().render().decode()
    (alerts,) = documents(DEPLOY / "prometheus" / "alerts.yaml")

    for rule in alerts["groups"][0]["rules"]:
        for metric in re.findall(r"\b(?:passerelle|process)_\w+", rule["expr"]):
            assert f"# TYPE {metric.removesuffix('_bucket')} " in shown, (rule["alert"], metric)
        assert f"`{rule['alert']}`" in OPERATE
    assert set(re.findall(r"`(Passerelle\w+)`", OPERATE)) == {
        rule["alert"] for rule in alerts["groups"][0]["rules"]
    }


def test_prometheus_finds_the_pods_and_gives_the_adapter_its_labels() -> None:
    (scraped,) = documents(DEPLOY / "prometheus" / "kubernetes.yaml")[0]["scrape_configs"]
    template = deployment()["spec"]["template"]
    (port,) = template["spec"]["containers"][0]["ports"]
    rules = scraped["relabel_configs"]

    kept = {rule["source_labels"][0]: rule["regex"] for rule in rules if rule.get("action") == "keep"}
    assert kept == {
        "__meta_kubernetes_pod_label_app_kubernetes_io_name": template["metadata"]["labels"][
            "app.kubernetes.io/name"
        ],
        "__meta_kubernetes_pod_container_port_name": port["name"],
    }
    assert [rule["target_label"] for rule in rules if "target_label" in rule] == ["namespace", "pod"]


def test_prometheus_accepts_its_files_and_the_alarms_ring() -> None:
    promtool = find("promtool")
    folder = DEPLOY / "prometheus"

    for command in (
        ["check", "rules", folder / "alerts.yaml"],
        ["check", "config", "--syntax-only", folder / "prometheus.yaml"],
        ["test", "rules", folder / "alerts_test.yaml"],
    ):
        done = subprocess.run([promtool, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
