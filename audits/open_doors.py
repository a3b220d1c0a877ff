"""A plugin of pytest that breaks the server on purpose: every account sees every dataset."""

from __future__ import annotations

from eke.service.account import Account

Account.may_see = lambda _self, _name: True  # type: ignore[assignment, method-assign]
