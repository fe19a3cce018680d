"""What a paper brings: one object that names its methods, data, figures and reference figures, found by entry point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from boostrun.methods.declaration import Method


@dataclass(frozen=True)
class DataSet:
    """A data set as the command knows it.

    ``loader`` is the module that reads it (see :mod:`boostrun.data`), ``keys`` the dataclass of its keys, ``gives``
    what it hands out: table, chunks or stream, ``summary`` one line, for lists, and ``features`` the pipeline that it
    is used with where a person names none. ``copies`` is the key, if there is one, that tells how many distortions of
    all training samples follow them.
    """

    loader: str
    keys: type
    summary: str
    gives: str = "table"
    features: str = ""
    copies: str = ""


@dataclass(frozen=True)
class Pipeline:
    """A feature pipeline as the command knows it.

    ``module`` computes it (see :mod:`boostrun.features`): "package.module" with a class ``Pipeline``, or
    "package.module:Class". ``keys`` is the dataclass of its keys, and ``gives`` its kind of features: codes, values,
    products, stumps, anchors. A saved model computes them from raw images again if ``stateless`` says that options
    alone decide them, or ``fitted`` names the "module:Class" made from the filters, masks and maxima kept in the model.
    """

    module: str
    keys: type
    summary: str
    gives: str = "codes"
    stateless: bool = False
    fitted: str = ""

    @property
    def target(self) -> str:
        """ "module:Class"."""
        return self.module if ":" in self.module else f"{self.module}:Pipeline"


@dataclass(frozen=True)
class SavedModel:
    """A kind of saved model that ``boostrun export`` makes a predictor of.

    ``target`` is the "module:Class" whose ``load(path)`` gives the model and the arrays beside it, by name; ``writer``
    the "module:function" that writes its inside in C: ``function(saved) -> ProgramParts``, of a
    :class:`boostrun.export.Saved` a :class:`boostrun.export.parts.ProgramParts`. ``layout`` is the "module:function"
    that holds the arrays of a file against what they must be before ``target`` sees them, ``function(arrays, sizes) ->
    arrays`` as :func:`boostrun.methods.layout.fitted` makes one of a table; without it they are handed on as they are.
    ``onnx`` is the "module:function" that writes its inside as operators of ONNX: ``function(saved) -> OnnxParts``, a
    :class:`boostrun.export.parts.OnnxParts`; without it the kind is not written so.
    """

    target: str
    writer: str
    layout: str = ""
    onnx: str = ""


@dataclass(frozen=True)
class Paper:
    """All that a paper brings; a fifth one adds its own and edits nothing.

    Parameters
    ----------
    title : authors and year, for lists.
    budget : what its methods spend sparingly, for lists: "samples held".
    methods, datasets, features : by the name that a person types.
    strategies, policies, weak_learners : name -> "module:Class" of parts that a key of a method can name.
    checks : room (strategies, policies, weak_learners) -> "module:function" of what ``boostrun check`` asks of the
    parts
        in it, by the paper whose methods use them: ``function(make) -> [Check]``, where ``make()`` gives a new part.
    objects : parameter -> module whose objects a saved model may hold as that parameter, each known by its class's name
        and made of its arguments.
    models : what the file of a saved model says that it holds -> :class:`SavedModel`.
    probabilities : "module:Class" of a classifier -> "module:function" that tells what its scores mean,
        ``function(classifier)`` -> :class:`boostrun.methods.probabilities.Link`, or the reason why they mean none;
        for the classes below it too.
    importances : the same of features: ``function(classifier)`` -> (d,) array of numbers of at least 0, or the reason.
    drawings : name -> "module:function" of what an item with ``draws`` writes, see :mod:`boostrun.runner.drawings`.
    pictures : name -> "module:function" of pictures made of the records of an item's cells.
    items : a folder of YAML files, one a table or figure, or None: those of ``conf/paper`` beside the package.
    reference : a CSV file of the paper's own figures, or None.
    claims : a YAML file of the paper's claims, or None.
    public : name -> module of what ``from boostrun import ...`` gives.
    streams : name -> module of learners of streams that ``from boostrun.streams import ...`` gives beside the classes
        of the methods that follow streams, such as a base classifier by itself.
    frontier : kind of budget -> names of those of its methods that ``boostrun frontier`` compares where a person names
        none, the first three of which its quick version does; of rivals all that keep a budget that is not here.
    rivals : whether its methods are what a person uses who knows no budget: the frontier sets all others against them.
    """

    title: str
    methods: Mapping[str, Method] = field(default_factory=dict)
    datasets: Mapping[str, DataSet] = field(default_factory=dict)
    features: Mapping[str, Pipeline] = field(default_factory=dict)
    strategies: Mapping[str, str] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    weak_learners: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, SavedModel] = field(default_factory=dict)
    probabilities: Mapping[str, str] = field(default_factory=dict)
    importances: Mapping[str, str] = field(default_factory=dict)
    drawings: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    items: Path | None = None
    reference: Path | None = None
    claims: Path | None = None
    public: Mapping[str, str] = field(default_factory=dict)
    streams: Mapping[str, str] = field(default_factory=dict)
    frontier: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rivals: bool = False
    budget: str = ""
