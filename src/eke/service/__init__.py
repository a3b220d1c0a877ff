"""The service: datasets over HTTP for many analysts, with accounts and a console.

Start with `app.py`; it needs the extra `server` (FastAPI and uvicorn).
"""

from eke.service.access import Access
from eke.service.account import ROLES, Account, Role
from eke.service.app import create_app
from eke.service.dataset import Datasets, open_datasets
from eke.service.run import Reply, get, run, send
from eke.service.settings import Settings
from eke.service.workers import run_workers

__all__ = [
    "ROLES",
    "Access",
    "Account",
    "Datasets",
    "Reply",
    "Role",
    "Settings",
    "create_app",
    "get",
    "open_datasets",
    "run",
    "run_workers",
    "send",
]
