"""Drifting streams as an input."""

from boostrun.config import defaults
from boostrun.inputs import Places
from boostrun.inputs.bank import StreamInput


def test_what_is_prepared_is_what_a_trial_opens_so_that_an_evaluation_can_look_at_it_before(tmp_path):
    dataset = {"name": "sea", **defaults("dataset", "sea"), "n_samples": 400}
    prepared = StreamInput().prepare(dataset, {"name": "raw"}, Places(tmp_path, tmp_path), False)
    assert prepared.kind == "stream" and len(prepared.stream) == 400 and prepared.eval_every == dataset["eval_every"]
