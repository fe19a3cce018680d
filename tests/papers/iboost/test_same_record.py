"""How many processes ran the trials makes no difference to a record."""

import pytest

from tests.papers.iboost.test_runner import records


@pytest.mark.slow
def test_two_processes_write_the_records_of_one(command):
    line = ("algo=iboost_batch,iboost_stochastic dataset=sea dataset.n_samples=2000 dataset.holdout_per_concept=300 "
            "M=5 n=50 trials=2")  # fmt: skip
    assert command(f"-m {line} n_jobs=1")[0] == 0 and command(f"-m {line} n_jobs=2 store=elsewhere")[0] == 0
    for algo in ("iboost_batch", "iboost_stochastic"):
        one = line.replace("iboost_batch,iboost_stochastic", algo)
        alone, together = records(one), records(f"{one} store=elsewhere")
        assert len(alone) == len(together) == 2
        for key in ("metrics", "curve", "seed"):
            assert [record[key] for record in alone] == [record[key] for record in together]
