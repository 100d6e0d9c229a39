"""What is in an exception group."""

from __future__ import annotations

import trio


def leaves(error: BaseException) -> list[BaseException]:
    """List the exceptions of a group, leaving out cancellations."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for child in error.exceptions for leaf in leaves(child)]
    return [] if isinstance(error, trio.Cancelled) else [error]
