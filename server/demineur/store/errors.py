"""What can go wrong in the store, by what the caller must do about it.

Nothing of Redis's own exceptions leaves this package.
"""

# ruff: noqa: N818 (the names say what is the case; that they are errors, the root says)


class StoreError(Exception):
    """Root of all errors of this package."""


class StoreUnavailable(StoreError):
    """Redis did not answer, or refused to work, within the time given.

    ``outcome_unknown`` is True where the call may have been executed all the same, or may yet
    be. After an append that ended so, take the lease again (the new epoch fences whatever is
    still on its way) and load the log: it alone says what happened.
    """

    def __init__(self, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class StoreMisconfigured(StoreUnavailable):
    """Unavailable until the operator acts: bad address, wrong password, busy directory."""


class Fenced(StoreError):
    """The room's lease is not, or no longer, held by this node at this epoch: nothing stored."""


class Conflict(StoreError):
    """The room's log does not end where the append begins: nothing stored, load it again."""


class Backlogged(StoreError):
    """More is waiting to be appended than the bounds allow: nothing stored, slow down."""
