"""How hard a property is tried: moderately by default, five times that with DEMINEUR_FULL."""

import os

from hypothesis import HealthCheck, Phase, settings

FULL = os.environ.get("DEMINEUR_FULL") == "1"


def tries(quick: int) -> settings:
    """Return the settings of a property that gets so many examples.

    There is no time limit for one example, since machines differ; a failing one is shrunk but
    not explained, which may take longer than a test may.
    """
    return settings(
        max_examples=quick * 5 if FULL else quick,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    )
