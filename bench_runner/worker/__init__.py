"""The only room with torch: builds the model, finds its micro-batch size, times its steps.

Nothing outside this package imports it; bench_runner.launch starts it as
``python -m bench_runner.worker``.
"""
