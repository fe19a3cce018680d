"""Every learner of streams, small: what all of them must do is asked of each."""

from boostrun import IBoostClassifier
from boostrun.drift.adaboost import AdaBoostWindowClassifier
from boostrun.drift.adwin_bagging import AdwinBaggingClassifier
from boostrun.drift.dwm import DWMClassifier
from boostrun.drift.flb import FLBClassifier
from boostrun.drift.flc import FLCClassifier
from boostrun.drift.nsoboost import NSOnlineBoostClassifier
from boostrun.online.ocb import OCBClassifier
from boostrun.online.onlineboost import OnlineBoostClassifier

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
