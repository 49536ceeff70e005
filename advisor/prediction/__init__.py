"""Times nobody measured: whether a model fits a machine, how long it trains, and how sure that is.

    target = target_of_config(Path("config.json"), Run(batch_size=512, tokens=300e9))
    answer = predict(target, chip_of(gpu), 4, fitted)      # -> Prediction, in words and numbers
    predict_many(workloads, chips, w, c, n, fitted)        # -> columns, 100,000 pairs in one call
    fitted = fitted_from(load_evidence())                  # needs scipy; once a store is built
    Fitted.from_json(text)                                 # what a store keeps of it

`python -m advisor.prediction.fit.accuracy_page` cross-validates all of it and prints
the figures. Nothing here loads numpy or scipy before it is asked for numbers.
"""

from advisor.prediction.fit.fitted_from import fitted_from
from advisor.prediction.fitted import Fitted
from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import (
    Run,
    Target,
    target_of_recipe,
    target_of_size,
    target_of_timm,
)
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.physics.chip import Chip, chip_of
from advisor.prediction.predict_many import Predictions, predict_many
from advisor.prediction.predict_one import Prediction, predict

__all__ = [
    "Chip",
    "Fitted",
    "Prediction",
    "Predictions",
    "Run",
    "Target",
    "Workload",
    "chip_of",
    "fitted_from",
    "predict",
    "predict_many",
    "target_of_config",
    "target_of_recipe",
    "target_of_size",
    "target_of_timm",
    "workload_of",
]
