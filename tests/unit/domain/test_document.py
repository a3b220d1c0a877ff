"""The file form of a domain: readable, strict about mistakes."""

import json

import pytest
import yaml

from eke.domain import (
    Binned,
    Boolean,
    Categorical,
    Domain,
    Integer,
    Replace,
    domain_from_document,
    domain_to_document,
    read_domain,
    write_domain,
)
from eke.errors import DomainError

DOMAIN = Domain(
    age=Integer(17, 90, null=Replace(17)),
    sex=Categorical("Female", "Male", null="bucket", outside="bucket"),
    weight=Binned([0, 1e-05, 2.5, 1e16], outside="drop"),
    married=Boolean(null=Replace(True)),
    country=Categorical("NO", "SE", "1", "null", "2020-01-01", outside=Replace("NO")),
)
YAML = """\
format: eke-domain/1
attributes:
  age:
    type: integer
    low: 17
    high: 90
    'null':
      replace: 17
    outside: clamp
"""


def test_the_yaml_is_for_people(tmp_path):
    path = tmp_path / "domain.yaml"
    write_domain(DOMAIN, path)
    assert path.read_text("utf-8").startswith(YAML)
    assert read_domain(path) == DOMAIN
    assert read_domain(str(path)) == DOMAIN


def test_the_json_is_json(tmp_path):
    path = tmp_path / "domain.json"
    write_domain(DOMAIN, path)
    assert json.loads(path.read_text("utf-8")) == domain_to_document(DOMAIN)
    assert read_domain(path) == DOMAIN


def test_rules_may_be_left_out_and_defaults_apply():
    document = {
        "attributes": {
            "a": {"type": "categorical", "values": ["x"]},
            "b": {"type": "integer", "low": 0, "high": 3},
            "c": {"type": "binned", "edges": [0, 1]},
            "d": {"type": "boolean"},
        }
    }
    expected = Domain(a=Categorical("x"), b=Integer(0, 3), c=Binned([0, 1]), d=Boolean())
    assert domain_from_document(document) == expected


def test_yaml_flow_style_is_read_although_it_looks_like_json(tmp_path):
    path = tmp_path / "domain.json"
    path.write_text("{attributes: {a: {type: boolean}}}", "utf-8")
    assert read_domain(path) == Domain(a=Boolean())


def one(**fields):
    return {"attributes": {"a": fields}}


_USE = "use categorical, integer, numeric, binned, boolean, date, timestamp, time, decimal or real"


@pytest.mark.parametrize(
    ("document", "advice"),
    [
        (None, "top-level mapping 'attributes'"),
        ([], "top-level mapping"),
        ({}, "top-level mapping"),
        ({"attributes": []}, "top-level mapping"),
        ({"attributes": {}}, "at least one attribute"),
        ({"format": "eke-domain/2", **one(type="boolean")}, "expected eke-domain/1"),
        ({"version": 1, 2: 3, None: 4, **one(type="boolean")}, "remove them: 2, None, version"),
        ({"attributes": {"a": "boolean"}}, "'a' must be a mapping with a 'type'"),
        ({"attributes": {True: {"type": "boolean"}}}, "put quotes around"),
        ({"attributes": {1: {"type": "boolean"}}}, "put quotes around"),
        (one(), _USE),
        (
            one(type="text"),
            _USE,
        ),
        (
            one(type=["boolean"]),
            _USE,
        ),
        (one(type="categorical"), "lacks 'values'; add it"),
        (one(type="integer", low=1), "lacks 'high'; add it"),
        (one(type="binned"), "lacks 'edges'; add it"),
        (one(type="categorical", values="abc"), "'values' must be a list"),
        (one(type="categorical", values=[["a", "b"]]), "'values' must be a list"),
        (one(type="categorical", values={"a": 1}), "'values' must be a list"),
        (one(type="categorical", values=["a", False]), "put quotes around"),
        (one(type="binned", edges="0 1"), "'edges' must be a list"),
        (one(type="binned", edges=["0", "1"]), "must be numbers, not str"),
        (one(type="binned", edges=3), "'edges' must be a list"),
        (one(type="boolean", low=0), "malformed"),
        (one(type="integer", low=0, high=1, step=2), "malformed"),
        ({"attributes": {"a": {"type": "boolean", 3: 4}}}, "malformed"),
        (one(type="integer", low="0", high=1), "'a': Integer bounds must be whole"),
        (one(type="boolean", null="clamp"), "'a': null must be"),
        (one(type="boolean", null=["drop"]), "'a': null must be"),
        (one(type="boolean", null={"replace": 1, "by": 2}), "'a': a rule is drop, bucket"),
        (one(type="boolean", null={"replace": None}), "'a': Replace needs"),
        (one(type="boolean", outside={}), "a rule is drop, bucket, clamp, never or"),
        (one(type="boolean", null={"replace": "x"}), "declare it"),
    ],
)
def test_malformed_documents_raise_with_advice(document, advice):
    with pytest.raises(DomainError, match=advice):
        domain_from_document(document)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", "top-level mapping"),
        ("attributes: {a: {type: boolean}", "neither YAML nor JSON"),
        ("\t", "neither YAML nor JSON"),
        ("attributes: !!python/object:os.system {}", "neither YAML nor JSON"),
        ("attributes: 2020-13-45", "neither YAML nor JSON"),
        ("attributes: !!bool maybe", "neither YAML nor JSON"),
        ("attributes: !!int x", "neither YAML nor JSON"),
        ("attributes: !!timestamp x", "neither YAML nor JSON"),
        ("attributes: {? [a] : b}", "neither YAML nor JSON"),
        pytest.param("[" * 400, "neither YAML nor JSON", id="too deep"),
        ("attributes:\n  a: {type: boolean}\n  a: {type: boolean}\n", "'a' is given twice"),
        ("attributes: {}\nattributes: {}\n", "'attributes' is given twice"),
        ('{"attributes": {"a": {"type": "boolean", "type": "integer"}}}', "'type' is given twice"),
        ("attributes: {a: {type: integer, low: 0, low: 1, high: 2}}", "'low' is given twice"),
        ('{"attributes": {"a": {"type": "binned", "edges": [0, NaN]}}}', "must be finite"),
        ('{"attributes": {"a": {"type": "integer", "low": 0, "high": 1e3}}}', "whole numbers"),
        ("attributes: {on: {type: boolean}}", "put quotes around"),
    ],
)
def test_malformed_files_raise_and_name_the_file(tmp_path, text, advice):
    path = tmp_path / "table.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(DomainError, match=advice) as raised:
        read_domain(path)
    assert "table.yaml" in str(raised.value)


def test_unreadable_files_are_domain_errors(tmp_path):
    with pytest.raises(DomainError, match="cannot read the domain file"):
        read_domain(tmp_path / "none.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"caf\xe9: 1")
    with pytest.raises(DomainError, match="cannot read the domain file"):
        read_domain(latin)


@pytest.mark.parametrize("name", ["domain.yaml", "domain.json"])
def test_every_kind_of_line_break_survives(tmp_path, name):
    texts = [
        "\x85",
        "a\u2028b",
        "\u2029",
        "\r\n",
        "\n",
        "\r",
        "\t",
        "\x00",
        "\x7f",
        "\ufeff",
        " ",
        "",
    ]
    domain = Domain({"na\x85me\n": Categorical(*texts), "é": Categorical("ü")})
    write_domain(domain, tmp_path / name)
    assert read_domain(tmp_path / name) == domain


def test_documents_hold_plain_types_only():
    """`yaml.safe_dump` refuses anything else."""
    assert yaml.safe_load(yaml.safe_dump(domain_to_document(DOMAIN))) == domain_to_document(DOMAIN)


def test_anchors_and_merges_of_yaml_still_work(tmp_path):
    path = tmp_path / "domain.yaml"
    path.write_text(
        "attributes:\n"
        "  a: &scale {type: integer, low: 0, high: 5}\n"
        "  b: *scale\n"
        "  c: {<<: *scale, high: 7}\n",
        "utf-8",
    )
    assert read_domain(path) == Domain(a=Integer(0, 5), b=Integer(0, 5), c=Integer(0, 7))
