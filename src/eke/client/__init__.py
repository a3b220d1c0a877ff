"""The client: a dataset on a server, with the face of a local session. Needs the extra `client`."""

from eke.client.reading import RemotePlan
from eke.client.remote import RemoteHistory, RemoteSession, connect

__all__ = ["RemoteHistory", "RemotePlan", "RemoteSession", "connect"]
