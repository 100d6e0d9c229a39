"""What a server may be granted, by name: scopes say how far it goes, toolsets what it lists."""

from __future__ import annotations

DEFAULT_SCOPES = ("read", "chat", "write")
SCOPES = (*DEFAULT_SCOPES, "delete", "share")
DEFAULT_TOOLSETS = ("notebooks", "sources", "chat", "notes", "studio", "research", "system")
OTHER_TOOLSETS = ("labels", "sharing", "library", "account")
