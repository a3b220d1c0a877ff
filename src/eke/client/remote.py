"""RemoteSession: a dataset on a server, with the face of a local session.

session = eke.connect("https://eke.example.org", token, dataset="adult")
session.ask("SELECT COUNT(*) FROM adult WHERE age >= 65", within=60)
session.ask(eke.count(age=(65, None)), within=60)

Next: `reading.py` makes answers of what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self
from urllib.parse import quote

import httpx

from eke.client.archive import RemoteArchive
from eke.client.estimate import EstimatingThere
from eke.client.guard import GuardingThere
from eke.client.history import RemoteHistory
from eke.client.job import publication_of
from eke.client.outside import KnowingThere
from eke.client.wire import Wire, without
from eke.codec.answer import read_answer
from eke.codec.claim import read_claim
from eke.codec.plan import RemotePlan, read_plan, strategy_body
from eke.codec.preview import read_preview
from eke.codec.release import read_release
from eke.domain import Domain, domain_from_document
from eke.errors import EkeError, QueryError, ServiceError
from eke.inference.progress import Progress, silent
from eke.planning import workload_to_document
from eke.planning.workload.strategy.given import Strategy
from eke.privacy.record_loss import NANO
from eke.privacy.unit import Unit
from eke.publish import Published
from eke.question import Question, caveats
from eke.question.posed import Asked, Posed, question_of
from eke.session import (
    Aim,
    Answer,
    Budget,
    Claim,
    Dataset,
    PlannedRelease,
    Preview,
    Price,
    Release,
    Within,
)
from eke.session.answer.qualified import qualified
from eke.session.release.measured import WorkloadLike, workload_of
from eke.session.single_use import single_use


def connect(
    url: str,
    token: str,
    dataset: str | None = None,
    *,
    timeout: float = 60.0,
    transport: httpx.BaseTransport | None = None,
) -> RemoteSession:
    """A dataset on a server, with the face of a session: both are a `Dataset`.

    It has `ask`, `preview`, `curve`, `explain`, `estimate`, `claim`, `plan`, `price`, `release`,
    `publish`, `archive`, `measurement`, `budget`, `remaining`, `history` and `domain`, and `close`.
    A server knows who asks, so `analyst=` is left out. Questions are SQL or expressions; `explain`
    takes SQL. Errors are those of a session. A connection that breaks is tried again, and `key=`
    makes sure that a request is answered once. A plan compares strategies like one made here, knows
    its `cost`, `remaining` and `affordable`, and is released by the same server. `publish` waits
    until the server has made the rows; tables and rows are the same objects as here. A whole table
    of answers comes without posteriors. It needs the extra `client`. See docs/reference/http.md.

    Args:
        url: where the server is.
        token: who you are.
        dataset: its name; it may be left out when the token sees one dataset only.
        timeout: seconds to wait for the server, each time.
        transport: how requests are sent, for tests; see httpx.

    Raises:
        AccessDenied: when the token is not known there, or may not do this.
        ServiceError: when there is no such dataset for you.
        Unanswered: when no proper answer comes. The server may have acted on the request, so send
            it again with the same `key`.

    Example:
        >>> def everyone(url, token):
        ...     with eke.connect(url, token, dataset="adult") as remote:
        ...         pairs = remote.plan(eke.all_marginals(remote.domain, 2), budget=0.1)
        ...         if pairs.affordable:
        ...             print(remote.release(pairs, key="pairs").tables)
        ...         return remote.ask(eke.count(), within=60).value
    """
    wire = Wire(url, token, timeout=timeout, transport=transport)
    try:
        return RemoteSession(wire, _known(wire, dataset))
    except EkeError:
        wire.close()
        raise


def _known(wire: Wire, dataset: str | None) -> str:
    """The name of a dataset that is there, or of the only one."""
    if dataset is not None and wire.find(_address(dataset)) is not None:
        return dataset
    names = [str(one["name"]) for one in wire.get("/api/v1/datasets")["datasets"]]
    listed = ", ".join(names) or "none"
    if dataset is not None:
        raise ServiceError(
            f"there is no dataset {dataset!r} for you; the server shows you {listed}"
        )
    if len(names) != 1:
        raise ServiceError(f"name the dataset; the server shows you {listed}")
    return names[0]


def _address(dataset: str) -> str:
    return f"/api/v1/datasets/{quote(dataset, safe='')}"


class RemoteSession(KnowingThere, GuardingThere, EstimatingThere, Dataset):
    """A dataset on a server. Made by `eke.connect`."""

    def __init__(self, wire: Wire, dataset: str) -> None:
        self._wire = wire
        self._place = _address(dataset)
        self.dataset = dataset

    def _answer(
        self,
        query: Asked,
        aim: Aim,
        *,
        key: str | None,
        analyst: str | None,
        policy: str | None,
    ) -> Answer:
        without(analyst)
        body = {**self._question(query, aim, policy), "posterior": True}
        answer = read_answer(self._wire.post(f"{self._place}/ask", body, key))
        # The server saw numbers only; what they leave open of the columns is known here.
        return answer if isinstance(query, str) else qualified(answer, self._read(query))

    def preview(
        self,
        query: Asked,
        within: Within = None,
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
        spend: float | None = None,
        groups_of: int | None = None,
    ) -> Preview:
        """Price and source of an answer; spends nothing."""
        without(analyst)
        body = self._question(query, Aim(within, confidence, spend, groups_of), policy)
        document = self._wire.post(f"{self._place}/preview", body)
        return read_preview(document)

    def curve(
        self,
        query: Asked,
        within: Sequence[float],
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
    ) -> list[Preview]:
        """The previews at several half-widths, one after the other; spends nothing."""
        return [
            self.preview(query, width, confidence, analyst=analyst, policy=policy)
            for width in within
        ]

    def explain(
        self,
        query: str,
        within: Within = None,
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
        spend: float | None = None,
        groups_of: int | None = None,
    ) -> dict[str, Any]:
        """How SQL is read, what history says about each part of it, and its price."""
        without(analyst)
        if not isinstance(query, str):
            raise QueryError("a server explains SQL; an expression says itself what it is")
        body = self._question(query, Aim(within, confidence, spend, groups_of), policy)
        return self._wire.post(f"{self._place}/explain", body)

    def claim(self, query: Asked, claim: str, *, analyst: str | None = None) -> Claim:
        """How probable it is that true answers lie where somebody says; free."""
        without(analyst)
        body = {**self._asked(query), "claim": claim}
        said = read_claim(self._wire.post(f"{self._place}/claim", body))
        if isinstance(query, str):
            return said
        return replace(
            said, caveats=tuple(dict.fromkeys((*caveats(self._read(query)), *said.caveats)))
        )

    # -- releasing and publishing --------------------------------------------------------------

    def plan(
        self,
        workload: WorkloadLike,
        *,
        budget: float | None = None,
        within: float | Mapping[Any, float] | None = None,
        confidence: float = 0.95,
        strategy: Strategy = "auto",
    ) -> RemotePlan:
        """How to release a workload with the least error, and its price; spends nothing."""
        wanted = workload_of(workload, self.domain)
        short = {"sql": workload} if isinstance(workload, str) else workload_to_document(wanted)
        widths: object = within
        if isinstance(within, Mapping):
            widths = [
                {"attributes": [names] if isinstance(names, str) else list(names), "within": width}
                for names, width in within.items()
            ]
        body = {
            "workload": short,
            "confidence": confidence,
            **strategy_body(strategy),
            **({} if budget is None else {"budget": budget}),
            **({} if within is None else {"within": widths}),
        }
        return read_plan(self._wire.post(f"{self._place}/plans", body), wanted, body)

    def price(self, wanted: PlannedRelease, *, analyst: str | None = None) -> Price:
        """What a release would have cost when it was planned, and what was left for it."""
        without(analyst)
        plan = _own(wanted)
        return Price(plan.cost, plan.remaining, plan.measure.name, plan.capped, plan.guarded)

    def release(
        self, plan: PlannedRelease, *, key: str | None = None, analyst: str | None = None
    ) -> Release:
        """Measure everything in a plan, in one charge; raises `BudgetExceeded`, nothing spent.

        The request is sent under a key in any case, so that a broken connection charges once.
        """
        without(analyst)
        used_key = key or single_use()
        document = self._wire.post(f"{self._place}/releases", _own(plan).request, used_key)
        return read_release(document, self.domain)

    def publish(
        self,
        mechanism: str,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        key: str | None = None,
        analyst: str | None = None,
        progress: Progress = silent,
        **options: Any,
    ) -> Published:
        """A whole table of new rows, made by the server in the background; waits until it is done.

        `progress` is told of each step and of the share that is done. With `key` the same request
        gets the same rows, whatever happens in between to this process or to the server.
        """
        without(analyst)
        body = {"mechanism": mechanism, "epsilon": epsilon, "rho": rho, "options": options}
        sent = {name: value for name, value in body.items() if value is not None}
        used_key = key or single_use()
        job = self._wire.post(f"{self._place}/publications", sent, used_key)
        made = publication_of(self._wire, self._place, job, progress)
        return self.archive.publication(made)

    # -- looking -------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The dataset's budget; what a cap leaves to you is `remaining`."""
        document = self._wire.get(f"{self._place}/budget")
        return Budget(document["measure"], _nano(document["limit"]), _nano(document["spent"]))

    @property
    def remaining(self) -> float:
        """What you may still spend: what the limit leaves, or less under a cap."""
        return float(self._wire.get(f"{self._place}/budget")["yours"]["remaining"])

    def measurement(self, sequence: int) -> dict[str, Any]:
        """One entry of the history: who measured what, with which noise, at what cost."""
        return self._wire.get(f"{self._place}/history/{int(sequence)}")

    @property
    def history(self) -> RemoteHistory:
        """Everything that the server shows you of what was released."""
        records: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = self._wire.get(f"{self._place}/history?limit=5000&after={after}")
            records += page["measurements"]
            after = page["next"]
        return RemoteHistory(records)

    @cached_property
    def archive(self) -> RemoteArchive:
        return RemoteArchive(self._wire, self._place, self.domain, self._asked, self._read)

    @cached_property
    def domain(self) -> Domain:
        """The domain; it never changes."""
        document = self._wire.get(f"{self._place}/schema")
        return domain_from_document(document["domain"]).reordered(document["order"])

    @cached_property
    def unit(self) -> Unit | None:
        """What is protected as a whole; it never changes."""
        told = self._wire.get(self._place)["unit"]
        return None if told is None else Unit(told["column"], told["rows"])

    def close(self) -> None:
        self._wire.close()

    # -- inside --------------------------------------------------------------------------------

    def _question(self, query: Asked, aim: Aim, policy: str | None) -> dict[str, Any]:
        within = aim.within
        body = {
            "within": dict(within) if isinstance(within, Mapping) else within,
            "confidence": aim.confidence,
            "spend": aim.spend,
            "groups_of": aim.groups_of,
            "policy": policy,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return {**self._asked(query), **given}

    def _asked(self, query: Asked) -> dict[str, Any]:
        """The part of a body that is the question: SQL, or its canonical form."""
        if isinstance(query, str):
            return {"sql": query}
        return dict(self._read(query).identity)

    def _read(self, query: Posed) -> Question:
        return question_of(query, self.domain)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteSession({self.dataset})"


def _own(plan: PlannedRelease) -> RemotePlan:
    if not isinstance(plan, RemotePlan):
        raise QueryError("a server releases its own plans; make one with plan() of this object")
    return plan


def _nano(amount: float) -> int:
    return round(amount * NANO)
