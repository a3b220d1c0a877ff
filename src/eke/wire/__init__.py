"""The PostgreSQL wire protocol: any tool that speaks it asks a dataset, like HTTP beside it.

door         listens and lets clients in     (greeting: TLS, who it is; door_place)
connection   one client, message by message  (message: the bytes; report: errors and notices)
transaction  blocks and cursors              (shelf, portal: what is prepared and fetched)
clerk         one statement that reads        (words, spelling, wrapping, declared, table, setting)
"""

from eke.wire.door import Door
from eke.wire.door_place import DoorPlace

__all__ = ["Door", "DoorPlace"]
