"""The client: a dataset on a server, with the face of a local session. Needs the extra `client`."""

from eke.client.history import RemoteHistory
from eke.client.plan import RemotePlan
from eke.client.remote import RemoteSession, connect

__all__ = ["RemoteHistory", "RemotePlan", "RemoteSession", "connect"]
