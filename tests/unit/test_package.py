"""The package itself: every public name is there, and none is loaded before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import eke

HEAVY = ("duckdb", "ibis", "numba", "numpy", "opendp", "pandas", "pyarrow", "scipy", "sqlalchemy")


def names_for_type_checkers() -> dict[str, str]:
    """name -> module, from the imports that only type checkers see."""
    tree = ast.parse(Path(eke.__file__ or "").read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_names_are_fetched_from_where_type_checkers_find_them() -> None:
    seen = names_for_type_checkers()
    assert seen.pop("version") == "importlib.metadata"
    assert seen.pop("open") == "eke.session"
    packages = {name for name, module in seen.items() if module == "eke"}
    # A type checker finds eke.dbapi by `import eke.dbapi`; the layers forbid the import here.
    assert packages == set(eke._PACKAGES) - {"dbapi"}
    assert {n: m for n, m in seen.items() if n not in packages} == eke._HOME_OF


@pytest.mark.parametrize("name", eke.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(eke, name) is getattr(eke, name)
    assert name in dir(eke)


def late_packages() -> list[str]:
    """The packages that give their names out late."""
    root = Path(eke.__file__ or "").parent
    return sorted(
        ".".join(("eke", *path.parent.relative_to(root).parts))
        for path in root.rglob("__init__.py")
        if "late_names(" in path.read_text("utf-8")
    )


@pytest.mark.parametrize("package", late_packages())
def test_late_names_are_those_that_type_checkers_see(package: str) -> None:
    """Each is where its import says, and none has the name of a module, which would hide it."""
    module = import_module(package)
    tree = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen
    modules = {one.name for one in iter_modules(module.__path__)}
    for name, home in seen.items():
        assert name in module.__all__
        assert name not in modules
        assert getattr(module, name) is getattr(import_module(home), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("name", eke._PACKAGES)
def test_packages_are_there_without_importing_them(name: str) -> None:
    assert getattr(eke, name).__name__ == f"eke.{name}"


@pytest.mark.parametrize("name", ["nothing", "__path", "Open"])
def test_other_names_are_not(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(eke, name)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("connect", "httpx", "client"),
        ("client", "httpx", "client"),
        ("service", "fastapi", "server"),
    ],
)
def test_a_missing_extra_is_named(
    name: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in list(sys.modules):
        if module.startswith(("eke.client", "eke.service")):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(vars(eke), name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError) as found:
        getattr(eke, name)
    assert f"{package} is missing; install it with pip install 'eke[{extra}]'" in str(found.value)
    assert found.value.name == package


def test_other_missing_packages_are_told_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(eke, "import_module", missing)
    monkeypatch.delitem(vars(eke), "count", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'numpy'$"):
        _ = eke.count


def loaded_after(statement: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*(n for n in {HEAVY!r} if n in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_command_line_starts_without_the_engine() -> None:
    assert loaded_after("from eke.cli.program import app") == set()
    assert "numpy" in loaded_after("import eke; eke.count"), "positive control"
