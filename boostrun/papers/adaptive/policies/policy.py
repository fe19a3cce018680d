"""The former place of :mod:`boostrun.papers.adaptive.policies`; it warns."""

import warnings

from boostrun.papers.adaptive.policies import *  # noqa: F403

warnings.warn("boostrun.papers.adaptive.policies.policy is boostrun.papers.adaptive.policies", DeprecationWarning, 2)
