"""The rules for Prometheus and the dashboard for Grafana parse, and name only metrics that exist."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.support.engines import Engine
from tests.web.conftest import CHEAP_PASSWORDS, SECRET

DOCS = Path(__file__).parents[3] / "docs"
RULES = yaml.safe_load((DOCS / "prometheus/leaseq-rules.yml").read_text())
DASHBOARD = json.loads((DOCS / "grafana/leaseq.json").read_text())
TOKEN = "a token for Prometheus, long enough"
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = {rule["alert"]: rule["expr"] for rule in ALERTS} | {
    f"{panel['title']}, {target['refId']}": target["expr"] for panel in PANELS for target in panel["targets"]
}

Samples = dict[str, dict[str, set[str]]]
"""The values of each label, by the sample's name."""


@pytest.fixture(scope="module")
def samples(shared_engine: Engine) -> Samples:
    """The metrics of a web app with a queue, as a user who may read the server's figures."""
    queue = leaseq.Queue(shared_engine.connect(), "monitored")
    queue.enqueue({})
    settings = Settings(redis_url=shared_engine.admin_url, secret_key=SECRET, metrics_token=TOKEN)
    client = create_app(settings, passwords=CHEAP_PASSWORDS).test_client()
    client.get("/login", buffered=True)  # a request that the next scrape counts
    text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    labels_by_sample: Samples = defaultdict(lambda: defaultdict(set))
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            for label, value in sample.labels.items():
                labels_by_sample[sample.name][label].add(value)
            _ = labels_by_sample[sample.name]  # also one without labels
    return labels_by_sample


def parse(text: str) -> promql_parser.Expr:
    """Parse an expression, with Grafana's variables filled in."""
    return promql_parser.parse(text.replace("$__rate_interval", "1m").replace("$queue", "reviews"))


def nodes(text: str) -> Iterator[promql_parser.Expr]:
    """All parts of an expression."""
    expressions: list[promql_parser.Expr] = []
    promql_parser.walk(parse(text), expressions.append)
    yield from expressions


def grouping_labels(text: str) -> set[str]:
    """The labels by which an expression groups."""
    aggregates = [node for node in nodes(text) if isinstance(node, promql_parser.AggregateExpr)]
    return {label for aggregate in aggregates if aggregate.modifier for label in aggregate.modifier.labels}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression_names_only_existing_metrics_and_labels(samples: Samples, name: str) -> None:
    text = EXPRESSIONS[name]
    selectors = [node for node in nodes(text) if isinstance(node, promql_parser.VectorSelector)]
    assert selectors
    for selector in selectors:
        assert selector.name in samples
        labels = samples[str(selector.name)]
        for matcher in selector.matchers.matchers:
            assert matcher.name in labels, f"{selector.name} has no label {matcher.name}"
            if matcher.op == promql_parser.MatchOp.Equal:
                assert matcher.value in labels[matcher.name]
    assert grouping_labels(text) <= {label for selector in selectors for label in samples[str(selector.name)]}


def test_selector_inside_range_is_found() -> None:
    selectors = [
        node for node in nodes("rate(a_total[5m])") if isinstance(node, promql_parser.VectorSelector)
    ]
    assert [selector.name for selector in selectors] == ["a_total"]


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_alert_rule_is_complete_and_valid(rule: dict[str, Any]) -> None:
    assert (
        {"alert", "expr", "labels", "annotations"}
        <= set(rule)
        <= {*("alert", "expr", "for", "labels", "annotations")}
    )
    assert re.fullmatch(r"Leaseq[A-Za-z]+", rule["alert"])
    assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m"))
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert set(rule["annotations"]) == {"summary", "description"}
    text = " ".join(rule["annotations"].values())
    assert set(re.findall(r"\$labels\.(\w+)", text)) <= grouping_labels(rule["expr"])
    for template in re.findall(r"\{\{(.*?)\}\}", text):
        assert re.fullmatch(r" \$(labels\.\w+|value( \| humanize(Duration|Percentage)?)?) ", template), (
            template
        )


def test_rule_names_are_unique_and_listed_on_page() -> None:
    names = [rule["alert"] for rule in ALERTS]
    assert len(set(names)) == len(names)
    page = (DOCS / "how-to/monitor.md").read_text()
    assert [name for name in names if f"`{name}`" not in page] == []
    assert set(re.findall(r"`(Leaseq[A-Za-z]+)`", page)) == set(names)


def test_dashboard_has_schema_of_grafana_11() -> None:
    assert DASHBOARD["schemaVersion"] == 39
    assert "id" not in DASHBOARD, "Grafana assigns one"
    assert (DASHBOARD["uid"], DASHBOARD["title"]) == ("leaseq", "leaseq")
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert {panel["type"] for panel in DASHBOARD["panels"]} == {"row", "stat", "timeseries"}


def test_dashboard_data_source_is_variable() -> None:
    source, queue = DASHBOARD["templating"]["list"]
    assert (source["type"], source["query"]) == ("datasource", "prometheus")
    datasource = {"type": "prometheus", "uid": f"${{{source['name']}}}"}
    places = [queue, *PANELS, *(target for panel in PANELS for target in panel["targets"])]
    assert [place["datasource"] for place in places] == [datasource] * len(places)


def test_dashboard_queue_variable_uses_existing_label(samples: Samples) -> None:
    queue = DASHBOARD["templating"]["list"][1]
    match = re.fullmatch(r"label_values\((\w+), (\w+)\)", queue["query"]["query"])
    assert match
    assert "monitored" in samples[match[1]][match[2]]
    variables = {name for text in EXPRESSIONS.values() for name in re.findall(r"\$(\w+)", text)}
    assert variables == {queue["name"], "__rate_interval"}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_legend_names_only_grouping_labels(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= grouping_labels(target["expr"])


def test_dashboard_panels_do_not_overlap() -> None:
    earlier_cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24, panel["title"]
        assert not cells & earlier_cells, panel["title"]
        earlier_cells |= cells
