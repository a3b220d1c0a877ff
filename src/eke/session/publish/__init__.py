"""Publishing: whole tables of new rows, and what the ledger keeps of them."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.session.publish.archive import Archive
    from eke.session.publish.published import PublishRequest, publication_plan, publish

__all__ = [
    "Archive",
    "PublishRequest",
    "publication_plan",
    "publish",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "archive": "Archive",
            "published": "PublishRequest publication_plan publish",
        },
    )
