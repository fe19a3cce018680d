"""What each kind of model gives to its C file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ProgramParts:
    """The inside of a predictor.

    Attributes
    ----------
    what : str, the model in words.
    x_type, x_size, x_text : str, int, str: type, length and meaning of the array that is predicted.
    n_scores : int, length of the array of scores.
    code : str, tables and static functions, and ``void scores(const x_type *x, double *out)``.
    counted : int, multiply-adds of a prediction as the project's records count them.
    runs : int, multiply-adds that the code does, at most.
    notes : str, what those numbers hold and leave out.
    """

    what: str
    x_type: str
    x_size: int
    x_text: str
    n_scores: int
    code: str
    counted: int
    runs: int
    notes: str
