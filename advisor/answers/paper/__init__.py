"""The paper's conclusions and figures, recomputed."""
