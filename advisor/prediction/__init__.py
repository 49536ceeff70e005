"""Predictions: whether a model fits a machine, how long it trains, and how sure that is.

    target = target_of_config(Path("config.json"), Ask(batch_size=512, tokens=300e9))
    answer = predict(target, chip_of(gpu), 4, fitted)      # -> Prediction, in words and numbers
    predict_many(Asked(workloads, chips, w, c, n, fitted)) # -> columns, 100,000 pairs in one call

`tools/fit` fits the numbers that ship (fitted.json) and measures how good they are
(docs/prediction.md). Nothing here loads numpy before it is asked for numbers, and nothing scipy.
"""
