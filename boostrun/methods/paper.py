"""The declaration of a paper: its methods, data, figures and reference figures, found by its entry point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from boostrun.methods.declaration import Method


@dataclass(frozen=True)
class DataSet:
    """A data set as the command knows it.

    Parameters
    ----------
    loader : the module that reads it, see :mod:`boostrun.data`.
    keys : the dataclass of its keys.
    summary : one line, for lists.
    gives : table, chunks or stream.
    features : its default feature pipeline.
    copies : the key, if there is one, that sets how many distorted copies of the training samples are added.
    test_share : the part of all samples that the published split tests on, if the key ``split`` draws others of its
        sizes.
    endings : endings of the names of files that it reads as its key ``path``, "/" for a folder. ``dataset=mine.csv``
        chooses the first data set with such an ending that gives what the method takes.
    """

    loader: str
    keys: type
    summary: str
    gives: str = "table"
    features: str = ""
    copies: str = ""
    test_share: float = 0.0
    endings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pipeline:
    """A feature pipeline as the command knows it.

    Parameters
    ----------
    module : the module that computes it, see :mod:`boostrun.features`: "package.module" with a class ``Pipeline``, or
        "package.module:Class".
    keys : the dataclass of its keys.
    summary : one line, for lists.
    gives : the kind of features: codes, values, products, stumps or anchors.
    stateless : whether its options alone define it, so that a saved model computes it from raw images.
    fitted : "module:Class" that computes it from the filters, masks and maxima saved beside a model; empty if none.
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
    """A kind of saved model that ``boostrun export`` turns into a predictor.

    Parameters
    ----------
    target : "module:Class" whose ``load(path)`` returns the model and the arrays beside it, by name.
    writer : "module:function" that writes it in C: ``function(saved) -> ProgramParts``, from
        :class:`boostrun.export.Saved` to :class:`boostrun.export.parts.ProgramParts`.
    layout : "module:function" that checks the arrays of a file before ``target`` sees them, ``function(arrays, sizes)
        -> arrays``, with :func:`boostrun.methods.archive.fitted`; without it they are not checked.
    onnx : "module:function" that writes it as operators of ONNX: ``function(saved) -> OnnxParts``
        (:class:`boostrun.export.parts.OnnxParts`); empty if it cannot be exported to ONNX.
    integer : "module:function" that gives its form in real numbers, of which a predictor of whole numbers is made:
        ``function(saved) -> TreeForm | LinearForm`` of :mod:`boostrun.export.forms`; empty if it has none.
    """

    target: str
    writer: str
    layout: str = ""
    onnx: str = ""
    integer: str = ""


@dataclass(frozen=True)
class Paper:
    """Everything that a paper adds to boostrun; another paper needs no edit of boostrun.

    Parameters
    ----------
    title : authors and year, for lists.
    budget : the resource that its methods save, for lists: "samples held".
    methods, datasets, features : by their names on the command line.
    strategies, policies, weak_learners : name -> "module:Class" of parts that a key of a method can name.
    checks : room (strategies, policies, weak_learners) -> "module:function" that ``boostrun check`` applies to parts in
        it: ``function(make) -> [Check]``, where ``make()`` returns a new part.
    objects : parameter -> module whose objects a saved model may hold as that parameter, saved as the name of their
        class and their arguments.
    models : kind of model file -> :class:`SavedModel`.
    probabilities : "module:Class" -> "module:function", which explains the scores of such a classifier, or of a
        subclass: ``function(classifier)`` returns a :class:`boostrun.methods.probabilities.Link`, or the reason
        why they are no probabilities.
    importances : the same for features: ``function(classifier)`` returns a (d,) array of numbers >= 0, or the reason.
    states : "module:Class" of a stream learner -> "module:function" that checks a saved one, or one of a subclass:
        ``function(learner, n_classes)`` raises :class:`boostrun.methods.archive.Damaged` if arrays of the right types
        and shapes hold numbers that compiled code must not use. ``n_classes`` is the number in the file.
    kept : "module:Class" of an estimator that cannot be saved -> "module:function" that makes one of it, fitted, that
        can: ``function(estimator)`` returns a :class:`boostrun.methods.saved.Saveable`.
    integer : "module:Class" of a classifier whose file is none of ``models`` -> "module:function" that gives its form
        in real numbers, as ``integer`` of :class:`SavedModel`: ``function(classifier) -> TreeForm``.
    arrivals : "module:Class" of a classifier -> "module:Class" of the :class:`boostrun.methods.fitting.Arrivals` that
        learns from the samples of its ``partial_fit``, and of that of a subclass; an empty text if it has none.
    drawings : name -> "module:function" that draws an item with ``draws``, see :mod:`boostrun.runner.paper`.
    pictures : name -> "module:function" that draws the records of an item's cells.
    items : a folder of YAML files, one for each table or figure; None for ``conf/paper`` in the package.
    reference : a CSV file of the paper's published figures, or None.
    claims : a YAML file of the paper's claims, or None.
    public : name -> module, for ``from boostrun import name``.
    streams : name -> module, for ``from boostrun.streams import name``: stream learners that are not methods, such as a
        base classifier.
    frontier : kind of budget -> the methods that ``boostrun frontier`` compares by default, the first three in its
        quick version. Of ``rivals`` all methods that keep a budget are compared if it is not listed here.
    rivals : whether these are methods without a budget in mind, against which the frontier compares all others.
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
    states: Mapping[str, str] = field(default_factory=dict)
    arrivals: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)
    integer: Mapping[str, str] = field(default_factory=dict)
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
