"""A training of the user's own, run unchanged: started, timed, its kernels sorted, ended."""
