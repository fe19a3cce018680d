"""What holds of a paper: its claims, each with the comparison of trials that decides it, and the verdict."""

from boostrun.report.claims.claim import Case, Claim, Evidence, Pick, Side, read
from boostrun.report.claims.verdicts import Judged, Source, judge

__all__ = ["Case", "Claim", "Evidence", "Judged", "Pick", "Side", "Source", "judge", "read"]
