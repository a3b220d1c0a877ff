"""Docstrings and signatures of the public names, read from the code as it runs.

Griffe reads the sections of a docstring in Google's style. A member without a docstring has that of
the class it comes from, as in `help`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import griffe

import eke

_KINDS = griffe.DocstringSectionKind


@dataclass(frozen=True)
class Documented:
    """A public object under its name, with what its docstring and its signature say."""

    name: str
    target: Any

    @cached_property
    def sections(self) -> list[griffe.DocstringSection]:
        """The sections of its docstring, in their order."""
        return griffe.parse_google(griffe.Docstring(self.docstring), warnings=False)

    @property
    def docstring(self) -> str:
        """Its docstring, or the one it inherits; empty for a value such as a text."""
        if isinstance(self.target, (str, int, float)):
            return ""
        return inspect.getdoc(self.target) or ""

    @property
    def text(self) -> list[str]:
        """The paragraphs outside of sections."""
        texts = [s.value for s in self.sections if s.kind is _KINDS.text]
        return [paragraph for text in texts for paragraph in text.split("\n\n")]

    def items(self, kind: str) -> list[tuple[str, str]]:
        """(name, description) of each item of a section: parameters, attributes or raises."""
        wanted = _KINDS(kind)
        found = [item for s in self.sections if s.kind is wanted for item in s.value]
        label = "annotation" if wanted is _KINDS.raises else "name"
        return [(str(getattr(item, label)).lstrip("*"), item.description) for item in found]

    @property
    def returns(self) -> str:
        """What the section Returns says, if there is one."""
        found = [item for s in self.sections if s.kind is _KINDS.returns for item in s.value]
        return " ".join(item.description for item in found)

    @property
    def example(self) -> str:
        """The example: lines as a Python prompt shows them."""
        admonitions = [s.value for s in self.sections if s.kind is _KINDS.admonition]
        return "\n".join(a.description for a in admonitions if a.kind == "example")

    @property
    def is_class(self) -> bool:
        """Whether it is a class."""
        return inspect.isclass(self.target)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters that a caller gives, without annotations; none of a property."""
        if not callable(self.target):
            return []
        given = inspect.signature(inspect.unwrap(self.target)).parameters.values()
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in given]
        return [
            p.replace(default=...) if inspect.isfunction(p.default) else p
            for p in bare
            if p.name != "self"
        ]

    @property
    def is_made_by_eke(self) -> bool:
        """Whether it is a class whose objects nobody makes: it has attributes, and no arguments."""
        return self.is_class and not self.items("parameters")

    @property
    def signature(self) -> str:
        """How it is called; the name alone for a property, and for classes that nobody calls."""
        if not callable(self.target) or self.is_made_by_eke:
            return self.name
        text = str(inspect.Signature(self.parameters))
        return f"{self.name}{text.replace('Ellipsis', '...')}"

    @property
    def members(self) -> list[Documented]:
        """Its public methods and properties, those of the classes above it first."""
        classes = [c for c in reversed(self.target.__mro__) if c.__module__.startswith("eke.")]
        names = dict.fromkeys(
            name
            for c in classes
            for name, value in vars(c).items()
            if not name.startswith("_") and not _is_field(value)
        )
        return [Documented(name, _member(self.target, name)) for name in names]

    @property
    def fields(self) -> list[str]:
        """The public fields of a dataclass."""
        found = fields(self.target) if is_dataclass(self.target) else ()
        return [field.name for field in found if not field.name.startswith("_")]


def documented(name: str) -> Documented:
    """The object that a name of the page stands for."""
    module, _, last = name.rpartition(".")
    home = import_module(f"eke.{module}") if module else eke
    return Documented(last, getattr(home, last))


def _is_field(value: object) -> bool:
    """Whether it is a field's slot, or its default."""
    return inspect.ismemberdescriptor(value) or isinstance(value, (str, int, float, tuple))


def _member(owner: type, name: str) -> object:
    """A method as its users call it, or a property as such: nothing is computed."""
    found = inspect.getattr_static(owner, name)
    return found if isinstance(found, (property, cached_property)) else getattr(owner, name)
