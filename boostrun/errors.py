"""The error shown to users: one sentence, no traceback, exit code 2."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from boostrun.suggestions import meant_key, nearest


class BoostrunError(ValueError):
    """An error the user can correct; the message is one short paragraph: the fault, its place, the allowed values."""


class DataMissingError(BoostrunError):
    """Files of a data set are missing; the message names them and their folders."""


class ReservoirSizeError(BoostrunError):
    """The reservoir and batch do not fit the training part; ``fits`` are sizes of both that do, for a table of the
    user's, else 0."""

    fits = 0


class UnknownKeyError(BoostrunError):
    """There is no such key.

    Parameters
    ----------
    head : the beginning of the message, such as "no key 'n_estimators'".
    tail : the end of the message, such as the list of keys; left out if it is certain which key is meant.
    key, value, known, parameters : see :func:`boostrun.suggestions.meant_key`.
    """

    def __init__(
        self, head: str, tail: str, key: str, value: str | None, known: Collection[str],
        parameters: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(head, tail, key, value, list(known), parameters)

    def __str__(self) -> str:
        """The sentence, with the key to type."""
        return self.sentence()

    def sentence(self, more: Iterable[str] = (), without: Collection[str] = ()) -> str:
        """The sentence for a command that takes ``more`` keys, and some not."""
        head, tail, key, value, known, parameters = self.args
        taken = [*more, *(each for each in known if each not in without)]
        meant, certain = meant_key(key, value, taken, parameters)
        return f"{head}{meant}{'' if certain else tail}"


class UnknownParameterError(BoostrunError, TypeError):
    """A class has no such parameter: its name, the parameter, its value, its own parameters, and the classes
    that have this one.
    """

    def __init__(
        self, owner: str, name: str, value: object, known: Collection[str], others: Collection[str] = ()
    ) -> None:
        super().__init__(owner, name, value, list(known), list(others))

    def __str__(self) -> str:
        """The sentence, with the parameter that is meant."""
        owner, name, value, known, others = self.args
        head = f"{owner} has no parameter '{name}'"
        if name == "class_weight":
            return (
                f"{head}, since it learns from samples without weights: sklearn.utils.resample repeats those of rare "
                f"classes, or take {', '.join(others)}"
            )
        more = f" (it has {', '.join(known)})"
        meant, certain = meant_key(name, str(value), [f"algo.{each}" for each in known])
        return f"{head}{meant.replace('algo.', '')}{'' if certain else more}"


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """The allowed word that is meant, by its meaning or spelling, as a clause for a message; may be empty.

    >>> did_you_mean("gem", ["geem", "wsam", "rand"])
    "; did you mean 'geem'?"
    >>> did_you_mean("zzz", ["geem"])
    ''
    """
    match = nearest(word, allowed)
    return f"; did you mean '{match}'?" if match else ""
