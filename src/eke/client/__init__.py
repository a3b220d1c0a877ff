"""The client: a dataset on a server, with the face of a local session. Needs the extra `client`."""

from eke.client.history import RemoteHistory
from eke.client.remote import RemoteSession, connect
from eke.codec.plan import RemotePlan

__all__ = ["RemoteHistory", "RemotePlan", "RemoteSession", "connect"]
