"""Stands for scikit-learn, which most machines have: like it, this loads SciPy unasked."""

import scipy.sparse

__version__ = "1.7.0"
__all__ = ["scipy"]
