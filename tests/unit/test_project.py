"""The repository itself: plain pins, no machine names, contracts that keep up with packages."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?==[0-9][A-Za-z0-9.]*")

# Written with one-letter classes so that this file does not contain what it looks for.
MACHINE = re.compile(
    r"[/]work/|[/]root/|file:[/]{3}|pyp[i]\.|pythonhoste[d]|npmj[s]|debia[n]\.(?:org|net)",
    re.IGNORECASE,
)
# Only for a source tree without git; within a checkout .gitignore decides.
GENERATED = re.compile(
    r"\.git|\.venv|\.superset|__pycache__|\..*_cache|\.hypothesis|build|dist|.*\.egg-info"
)


def requirement_name(requirement: str) -> str:
    """The normalised project name at the start of a requirement or pin."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def repository_files() -> set[Path]:
    """Files that are, or on the next `git add` would be, part of the repository."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return set(walked_files(ROOT))
    paths = (ROOT / name for name in listing.stdout.decode().split("\0") if name)
    return {path for path in paths if path.is_file()}


def walked_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if GENERATED.fullmatch(path.name):
            continue
        if path.is_dir():
            yield from walked_files(path)
        else:
            yield path


def machine_lines(content: bytes) -> list[int]:
    """Numbers of the lines that name a machine path or package host; none for binary content."""
    if b"\0" in content:
        return []
    lines = content.decode("utf-8", errors="replace").splitlines()
    return [number for number, line in enumerate(lines, start=1) if MACHINE.search(line)]


def project_table() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def contract(identifier: str) -> dict:
    contracts = project_table()["tool"]["importlinter"]["contracts"]
    return next(entry for entry in contracts if entry["id"] == identifier)


@pytest.mark.parametrize("place", ["constraints.txt", "tests/fixtures/superset-constraints.txt"])
def test_constraints_hold_nothing_but_pins(place: str) -> None:
    lines = (ROOT / place).read_text("utf-8").splitlines()
    assert lines
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    names = [requirement_name(line) for line in lines]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "numpy",
        "numpy>=2",
        "numpy==",
        "numpy==2.0 ",
        "numpy==2.0+local",
        "numpy @ https://example.org/numpy.whl",
        "-e .",
        "--index-url https://example.org",
        "# numpy==2.0",
    ],
)
def test_anything_else_is_not_a_pin(line: str) -> None:
    assert PIN.fullmatch(line) is None


def test_every_dependency_is_pinned() -> None:
    project = project_table()["project"]
    extras = project["optional-dependencies"].values()
    wanted = {requirement_name(entry) for entry in project["dependencies"]}
    wanted |= {requirement_name(entry) for extra in extras for entry in extra}
    pinned = {
        requirement_name(line)
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    }
    assert wanted - pinned == set()


def test_no_file_names_a_machine_or_a_package_host() -> None:
    files = {path for path in repository_files() if path.relative_to(ROOT).parts[0] != "data"}
    assert Path(__file__).resolve() in files
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number in machine_lines(path.read_bytes())
    }
    assert found == set()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("open('/", "work/main/x')"),
        ("/", "root/.cache"),
        ("file:/", "//opt/x"),
        ("https://PyPI", ".org/simple"),
        ("https://files.python", "hosted.org"),
        ("registry.npm", "js.org"),
        ("http://deb.debian", ".org"),
    ],
)
def test_a_planted_address_is_found(before: str, after: str) -> None:
    """Positive control; the halves are joined here so that the file stays clean."""
    assert machine_lines(f"first line\n{before}{after}\n".encode()) == [2]


def test_walking_finds_at_least_what_git_lists() -> None:
    assert repository_files() <= set(walked_files(ROOT))


def test_data_is_documented() -> None:
    readme = (ROOT / "data" / "README.md").read_text("utf-8")
    names = {path.name for path in (ROOT / "data").iterdir()} - {"README.md"}
    assert names
    assert {name for name in names if f"`{name}`" not in readme} == set()


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = project_table()["project"]
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
    assert cited["authors"] == project["authors"]
    assert cited["keywords"] == project["keywords"]


def test_hooks_before_a_commit_are_the_checks_of_lint() -> None:
    recipe = re.search(
        r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert recipe is not None
    checks = [line.replace("$(BIN)", ".venv/bin") for line in recipe[1].split("\n\t")]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0][
        "hooks"
    ]
    assert [hook["entry"] for hook in hooks] == [check.strip() for check in checks]


def test_servers_of_the_project_run_make_test_and_nothing_else() -> None:
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    commands = [
        step["run"] for job in flow["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert [line for line in commands if "apt-get" not in line] == ["make test"]
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "make test"


def test_only_the_demo_does_without_what_the_tests_need() -> None:
    """A command that forgets the second stamp would fail on a fresh machine, and only there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    rules = re.findall(r"^([a-z-]+): *(.*?) *(?:##.*)?\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    waits = {name for name, before, _ in rules if re.search(r"\$\(STAMP\)|lint|browser", before)}
    runs = {name for name, _, recipe in rules if re.search(r"\$\((BIN|PYTEST)\)", recipe)}
    assert runs - waits == set()
    assert {"suite", "lint", "bench"} <= runs, "positive control"
    assert {name for name, before, _ in rules if before == "$(BASE)"} == {"demo"}


def test_packages_without_a_handle_on_data_are_under_contract() -> None:
    """`eke.sql` is written later; the contract cannot name a package that does not exist."""
    promised = {"history", "inference", "planning", "query", "sql"}
    present = {name for name in promised if (ROOT / "src" / "eke" / name / "__init__.py").exists()}
    rule = contract("post-processing")
    assert {f"eke.{name}" for name in present} <= set(rule["source_modules"])
    assert set(rule["forbidden_modules"]) == {"eke.data", "eke.ledger", "eke.mechanism"}
    assert "ignore_imports" not in rule
    assert "allow_indirect_imports" not in rule
