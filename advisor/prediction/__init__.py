"""Times nobody measured: whether a model fits a machine, how long it trains, and how sure that is.

    target = target_of_config(Path("config.json"), Run(batch_size=512, tokens=300e9))
    answer = predict(target, chip_of(gpu), 4, fitted)      # -> Prediction, in words and numbers
    predict_many(workloads, chips, w, c, n, fitted)        # -> columns, 100,000 pairs in one call
    Fitted.from_json(text)                                 # what a store keeps of a fit
    fitted_from(load_evidence())                           # needs scipy; in fit/

`python -m tools.fit.accuracy_page` cross-validates all of it and prints
the figures. Nothing here loads numpy or scipy before it is asked for numbers.
"""
