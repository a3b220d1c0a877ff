"""The tables as the code sees them today; `migrate.py` holds the statements that built them.

`entry` is the truth and only grows. `account` and `request` are its projections, kept so that a
charge is one conditional UPDATE and a repeated key one lookup; verification replays `entry` and
demands that they agree. `private` stays out of the chain but is bound to it by a hash. Only
integers and text, so that every database stores the same values.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

ledger_version = Table(
    "ledger_version",
    metadata,
    Column("only_row", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    CheckConstraint("only_row = 1", name="version_only_row"),
)

entry = Table(
    "entry",
    metadata,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("document", Text, nullable=False),
    # The reservation that this entry closes: UNIQUE makes a second closing impossible.
    Column("closes", BigInteger, ForeignKey("entry.sequence")),
    Column("hash", Text, nullable=False),
    CheckConstraint("sequence >= 1", name="entry_sequence_positive"),
    UniqueConstraint("closes", name="entry_closes_once"),
    UniqueConstraint("hash", name="entry_hash_once"),
)

account = Table(
    "account",
    metadata,
    Column("only_row", Integer, primary_key=True, autoincrement=False),
    Column("spending_limit", BigInteger, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("head_sequence", BigInteger, nullable=False),
    Column("head_hash", Text, nullable=False),
    CheckConstraint("only_row = 1", name="account_only_row"),
    CheckConstraint("spent >= 0", name="account_spent_not_negative"),
    CheckConstraint("spent <= spending_limit", name="account_spent_within_limit"),
)

#: What belongs to the dataset but must not leave the file with an exported chain, such as the
#: fingerprint of the data: the first entry holds only the hash of it, salted.
private = Table(
    "private",
    metadata,
    Column("only_row", Integer, primary_key=True, autoincrement=False),
    Column("document", Text, nullable=False),
    CheckConstraint("only_row = 1", name="private_only_row"),
)

request = Table(
    "request",
    metadata,
    Column("analyst", Text, primary_key=True),
    Column("request_key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("sequence", BigInteger, ForeignKey("entry.sequence"), nullable=False),
    Column("closed_by", BigInteger, ForeignKey("entry.sequence")),
    Column("answer", Text),
    CheckConstraint("state IN ('reserved', 'committed')", name="request_state_known"),
    CheckConstraint(
        "(state = 'committed') = (answer IS NOT NULL)", name="request_answer_when_committed"
    ),
    CheckConstraint(
        "(state = 'committed') = (closed_by IS NOT NULL)", name="request_closed_when_committed"
    ),
    UniqueConstraint("sequence", name="request_sequence_once"),
    UniqueConstraint("closed_by", name="request_closed_by_once"),
)
