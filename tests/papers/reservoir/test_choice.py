"""The settings of reservoir/choice are those that the held-out data ask for, and nothing else chose them."""

from tests.papers.items import item, searched


def test_every_method_has_as_many_settings_tried_and_the_first_of_the_best_is_taken():
    settings = {
        name: words
        for block in item("reservoir", "choice_heldout")["blocks"]
        for name, words in block["settings"].items()
    }
    table = searched("reservoir", "choice_heldout")
    forgets = table["row"].str.startswith("no mass")
    chosen = item("reservoir", "choice")["blocks"]
    for block in chosen:
        (algo,), (data,) = block["sweep"]["algo"], block["sweep"]["dataset"]
        ((label, words),) = block["settings"].items()
        tried = table[(table["algo"] == algo) & (table["dataset"] == data) & (forgets == ("forgets" in label))]
        assert len(tried) == 12
        means = tried.set_index("row")["mean"]
        assert words == settings[next(row for row in settings if row in means and means[row] == means.max())]
    assert len({tuple(block["settings"]) + tuple(block["sweep"]["dataset"]) for block in chosen}) == 6 * 3


def test_the_choice_saw_no_test_data():
    assert "holdout=0.2" in item("reservoir", "choice_heldout")["overrides"]
    assert not any("holdout" in word for word in item("reservoir", "choice")["overrides"])
