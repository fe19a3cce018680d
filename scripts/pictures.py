"""Draw the pictures of README.md and docs/: ``make pictures``, or this script with names of pictures.

Pictures are drawn from the published records and tables, without running a trial, and written to docs/pictures/. The
picture of README.md is SVG, in a version for light and one for dark pages; the others are PNG with a palette. No file
is larger than ``LARGEST`` bytes. Pictures that take minutes are copied from results/, where `make peers` and `boostrun
reproduce` draw them; if one is missing there, its copy in docs/ is kept. The script also writes
docs/explanation/gallery.md, which shows the pictures of ``GALLERY``.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from PIL import Image

from boostrun.config import catalogue
from boostrun.methods.declaration import obtain
from boostrun.report.canvas import apart, write_png
from boostrun.report.figures import curve_figures
from boostrun.report.frontier_summary import FrontierSummary, draw_differences, draw_ranks, frontiers_of
from boostrun.report.table import build
from boostrun.runner import paper
from boostrun.runner.plan import plan, published_store
from boostrun.store import Packs, packs_below

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "pictures"
RESULTS = ROOT / "results"
LARGEST = 60_000
POINTS = 200  # of a curve
COLOURS = (64, 32)  # sizes of a palette, tried in this order
HERO = "frontier_mnist"


class Picture(NamedTuple):
    """A picture: the name of its file, the function that draws it, and that function's two arguments."""

    name: str
    draw: Callable[[Path, str, str], Path | None]
    source: str = ""
    stem: str = ""


class Shown(NamedTuple):
    """An entry of the gallery: a picture, its title, the command that draws it ("" if none), a description."""

    name: str
    title: str
    command: str
    text: str


def curve(folder: Path, words: str, stem: str) -> Path:
    """A curve figure of a published item; ``words`` are its name and overrides, ``stem`` the figure's."""
    name, *overrides = words.split()
    item, _ = paper.load_published(name, RESULTS, [f"results={RESULTS}", *overrides])
    cells = plan(item.settings, published_store(RESULTS), data=False)
    entries = item.entries(cells)
    extras = item.extras(entries, build(item.spec, entries))
    found = curve_figures(entries, item.curves(cells), item.metrics, extras, POINTS)
    figure = next(one.figure for one in found if one.stem == stem)
    return write_png(figure, folder / f"{stem}.png")


def drawing(folder: Path, name: str, stem: str) -> Path:
    """A figure that a paper draws without trials."""
    obtain(catalogue.parts("drawings")[paper.drawing(name)])(folder, ROOT / "datasets")
    return folder / "figure.png"


def summary(folder: Path, kind: str, which: str) -> Path:
    """A summary picture of the published frontiers of a kind of budget: differences or ranks."""
    found = FrontierSummary(kind, frontiers_of(RESULTS / "frontiers", kind))
    return write_png({"differences": draw_differences, "ranks": draw_ranks}[which](found), folder / f"{which}.png")


def families(folder: Path, which: str, _: str) -> Path:
    """The values of each feature family, drawn as images."""
    path = folder / "families.png"
    if which == "19":
        import picture_families

        picture_families.main(str(ROOT / "datasets"), str(path))
    else:
        import picture_families33

        picture_families33.main(str(path))
    return path


def beside(_: Path, path: str, __: str) -> Path | None:
    """A picture that another command has drawn below results/, which git ignores; None if it is not there."""
    found = RESULTS / f"{path}.png"
    return found if found.is_file() else None


PICTURES = (
    Picture("held_differences", summary, "samples_held", "differences"),
    Picture("held_ranks", summary, "samples_held", "ranks"),
    Picture("evaluations_differences", summary, "evaluations", "differences"),
    Picture("features_differences", summary, "features", "differences"),
    Picture("features_ranks", summary, "features", "ranks"),
    Picture("reservoir_table3", curve, "reservoir/table3 dataset=mnist r=250", "curve_T"),
    Picture("reservoir_active", curve, "reservoir/active", "curve_labels_asked"),
    Picture("adaptive_expected_edge", drawing, "adaptive/figure1"),
    Picture("adaptive_seconds", curve, "adaptive/table1", "curve_log10_loss_train_seconds"),
    Picture("adaptive_edge_lost", curve, "adaptive/figure2", "curve_T"),
    Picture("adaptive_peers", beside, "bench/adaptive_peers"),
    Picture("adaptive_families19", families, "19"),
    Picture("adaptive_families33", families, "33"),
    Picture("shareboost_pieces", drawing, "shareboost/fig1"),
    Picture("shareboost_classes", curve, "shareboost/fig2", "curve_classes"),
    Picture("shareboost_products", curve, "shareboost/fig3_top", "curve_T"),
    Picture("shareboost_stumps", curve, "shareboost/fig3_bottom", "curve_T"),
    Picture("shareboost_templates_error", curve, "shareboost/fig4", "curve_T"),
    Picture("shareboost_templates", beside, "shareboost/fig5/templates_mnist_expanded_reg_0"),
    Picture("shareboost_errors", beside, "shareboost/fig6/errors_mnist_expanded_reg_0"),
    Picture("shareboost_errors_weight", beside, "shareboost/fig6/errors_mnist_expanded_reg_of_mnist"),
    Picture("shareboost_pieces_error", curve, "shareboost/fig7", "curve_T"),
    Picture("iboost_sea", curve, "iboost/fig_sea_nb_a", "curve_test_accuracy_pct_examples"),
    Picture("peers", beside, "bench/peers"),
)


def shrink(picture: Path, into: Path) -> None:
    """Write a picture with a palette, smaller by steps of a tenth until it fits."""
    whole = Image.open(picture).convert("RGB")
    for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        image = whole if share == 1.0 else whole.resize([round(share * side) for side in whole.size], Image.LANCZOS)
        for colours in COLOURS:
            image.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(into, optimize=True)
            if into.stat().st_size <= LARGEST:
                return
    raise ValueError(f"{into} is larger than {LARGEST} bytes")


_INK = {"light": ("#1f2328", "#59636e", "#d1d9e0", "#0969da"), "dark": ("#f0f6fc", "#9198a1", "#3d444d", "#4493f8")}


def draw_frontier(look: str) -> Path:
    """The frontier of MNIST: test error against samples held, tuned alike, for a light or a dark page."""
    ink, pale, rule, blue = _INK[look]
    with (RESULTS / "frontiers" / "mnist-samples_held" / "table.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure = Figure(figsize=(7.2, 4.4), layout="none")
    axis = figure.add_axes((0.07, 0.11, 0.70, 0.74))
    axis.set(xscale="log", yscale="log", xlim=(90, 2000), ylim=(2, 45))
    ends = []
    means = [(float(row["mean"]), row["samples_held"], row["method"]) for row in rows]
    ahead = {max(one for one in means if one[1] == budget)[2] for _, budget, _ in means}
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        points = [(int(row["samples_held"]), 100 - float(row["mean"])) for row in mine]
        colour, best = blue if mine[0]["rival"] == "0" else pale, method in ahead
        axis.plot(*zip(*points), color=colour, linewidth=3 if best else 1.4, marker="o", markersize=6 if best else 4,
                  zorder=3 if best else 2, clip_on=False)  # fmt: skip
        place = axis.transAxes.inverted().transform(axis.transData.transform(points[-1]))
        ends.append((float(place[1]), method, colour, "bold" if best else "normal"))
    for (end, method, colour, weight), height in zip(ends, apart([end for end, *_ in ends], 0.053)):
        axis.plot([1.012, 1.045], [end, height], color=colour, linewidth=0.6, transform=axis.transAxes, clip_on=False,
                  scalex=False, scaley=False)  # fmt: skip
        axis.text(1.055, height, method, color=colour, transform=axis.transAxes, va="center", fontsize=10,
                  weight=weight)  # fmt: skip
    for along, ticks, unit in ((axis.xaxis, (100, 500, 2000), ""), (axis.yaxis, (2, 5, 10, 20, 40), " %")):
        along.set_major_locator(FixedLocator(ticks))
        along.set_minor_locator(NullLocator())
        along.set_ticklabels([f"{tick}{unit}" for tick in ticks])
    axis.tick_params(colors=pale, length=0, labelsize=11)
    axis.grid(color=rule, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[:].set_visible(False)
    axis.set_xlabel("training samples held at one time", color=pale, fontsize=11)
    figure.text(0.012, 0.945, "MNIST: test error by samples held", color=ink, fontsize=13, weight="bold")
    figure.text(0.012, 0.895, "blue: boosting under a budget; grey: today's libraries; thick: best; means of ten seeds",
                color=pale, fontsize=10)  # fmt: skip
    path = FOLDER / f"{HERO}_{look}.svg"
    FigureCanvasSVG(figure)
    looks = {"svg.fonttype": "none", "svg.hashsalt": HERO, "font.family": "sans-serif"}
    with rc_context(looks):
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return path


GALLERY = (
    Shown(
        HERO, "What a budget of samples buys", "reproduce frontier/mnist-samples_held",
        "MNIST, all methods tuned alike under each budget, ten seeds. Holding 100 or 500 samples, a neural "
        "network that reads fresh chunks is ahead. Holding 2,000, WSam is level with it.",
    ),
    Shown(
        "held_differences", "Samples held, set by set", "frontier summary budget=samples_held",
        "The best of ours minus the best rival on each data set, with its 95 % interval.",
    ),
    Shown(
        "features_differences", "Features used, set by set", "frontier summary budget=features",
        "The same for models that use few features: rivals are ahead more often than our methods.",
    ),
    Shown(
        "reservoir_table3", "Reservoir Boosting, Table 3", "reproduce reservoir/table3 dataset=mnist r=250",
        "Test error against rounds on MNIST, with 250 samples kept.",
    ),
    Shown(
        "reservoir_active", "Reservoirs that choose which labels to ask for", "reproduce reservoir/active",
        "Test error against the number of labels.",
    ),
    Shown(
        "adaptive_seconds", "Adaptive Sampling, Table 1", "reproduce adaptive/table1",
        "Training loss against seconds on MNIST.",
    ),
    Shown(
        "adaptive_expected_edge", "Adaptive Sampling, Figure 1", "reproduce adaptive/figure1",
        "The expected edge of the best of Q candidates that are judged on S samples.",
    ),
    Shown(
        "adaptive_families19", "The 19 feature families", "",
        "The values of each family on an image of MNIST and on one of CIFAR-10: `python scripts/picture_families.py`.",
    ),
    Shown(
        "shareboost_classes", "ShareBoost, Figure 2", "reproduce shareboost/fig2",
        "The number of features that reach 20 % error, by the number of classes.",
    ),
    Shown(
        "shareboost_templates_error", "ShareBoost, Figure 4", "reproduce shareboost/fig4",
        "Test error on MNIST against the number of patch templates.",
    ),
    Shown(
        "shareboost_templates", "ShareBoost, Figure 5", "reproduce shareboost/fig5",
        "The first templates that ShareBoost chooses on MNIST, and their weights for each digit.",
    ),
    Shown(
        "iboost_sea", "IBoost on SEA", "reproduce iboost/fig_sea_nb_a",
        "Accuracy along a stream whose concept changes at the dashed lines.",
    ),
)  # fmt: skip


def gallery() -> str:
    """The text of docs/explanation/gallery.md: the pictures of ``GALLERY``, and the cost of all published records."""
    return "\n".join(_gallery())


def _gallery() -> Iterator[str]:
    yield "# Gallery\n"
    yield "`make pictures` draws these from the published records and writes this page. `boostrun ls paper` lists all"
    yield "published tables and figures. Each run also writes pictures of its results beside its table.\n"
    for name, title, command, text in GALLERY:
        yield f"## {title}\n\n{text}\n\n{_shown(name, title)}\n"
        if command:
            yield f"```console\n$ boostrun {command}\n```\n"
    yield "## What all records cost\n"
    yield "Core-hours of all published records, each counted once: the wall-clock seconds of each trial on one core,"
    yield "without features and compiling. Machines and their load differed.\n"
    yield "| | records | core-hours |\n| --- | ---: | ---: |"
    titles = {name: one.title for name, one in catalogue.papers().items() if name in _items()}
    titles |= {"tuned": "choices of `boostrun tune`", "frontiers": "frontiers, with their searches"}
    every: dict[str, float] = {}
    for name, title in titles.items():
        packed = Packs(packs_below(RESULTS / name)).known.values()
        seconds = {known.key: known.seconds or 0.0 for known in packed}
        every |= seconds
        yield f"| {title} | {len(seconds)} | {sum(seconds.values()) / 3600:.1f} |"
    yield f"| all | {len(every)} | {sum(every.values()) / 3600:.1f} |\n"


def _items() -> set[str]:
    return {name.partition("/")[0] for name in catalogue.options("paper")}


def _shown(name: str, title: str) -> str:
    if name == HERO:
        dark = f'<source media="(prefers-color-scheme: dark)" srcset="../pictures/{name}_dark.svg">'
        return f'<picture>{dark}<img alt="{title}" src="../pictures/{name}_light.svg"></picture>'
    return f"![{title}](../pictures/{name}.png)"


def main(names: list[str]) -> None:
    """Draw the named pictures, or all, and write the gallery."""
    FOLDER.mkdir(exist_ok=True)
    if not names or HERO in names:
        for look in _INK:
            _say(draw_frontier(look))
    for name, draw, source, stem in PICTURES:
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            drawn = draw(Path(folder), source, stem)
            if drawn is None:
                print(f"docs/pictures/{name}.png is kept")
                continue
            shrink(drawn, FOLDER / f"{name}.png")
        _say(FOLDER / f"{name}.png")
    page = ROOT / "docs" / "explanation" / "gallery.md"
    page.write_text(gallery(), encoding="utf-8")
    _say(page)


def _say(path: Path) -> None:
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
