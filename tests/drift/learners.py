"""Every learner of streams, small: what all of them must do is asked of each."""

from boostrun import IBoostClassifier
from boostrun.papers.iboost.adaboost import AdaBoostWindowClassifier
from boostrun.papers.iboost.adwin_bagging import AdwinBaggingClassifier
from boostrun.papers.iboost.dwm import DWMClassifier
from boostrun.papers.iboost.flb import FLBClassifier
from boostrun.papers.iboost.flc import FLCClassifier
from boostrun.papers.iboost.nsoboost import NSOnlineBoostClassifier
from boostrun.papers.iboost.ocb import OCBClassifier
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier

RIVALS = {
    "adaboost": AdaBoostWindowClassifier,
    "onlineboost": OnlineBoostClassifier,
    "nsoboost": NSOnlineBoostClassifier,
    "flc": FLCClassifier,
    "adwinbag": AdwinBaggingClassifier,
    "ocb": OCBClassifier,
    "dwm": DWMClassifier,
    "flb": FLBClassifier,
}
LEARNERS = [*RIVALS, "iboost_stochastic", "iboost_batch"]
WAITS = ("adaboost", "ocb", "flb", "iboost_stochastic", "iboost_batch")  # for a full window: until then, a constant


def make(name, window=20, **parameters):
    """A learner with a budget of 5 and a window of so many examples, where it has one; the same seed every time."""
    method = RIVALS.get(name, IBoostClassifier)
    small = {"budget": 5, "n_window": window, "random_state": 0}
    known = method().get_params()
    if name == "iboost_batch":
        small["update"] = "batch"
    return method(**({key: value for key, value in small.items() if key in known} | parameters))
