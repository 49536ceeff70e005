"""Changes to a model or its training that `bench_runner export` copies: each file stands alone."""
