"""Which GPUs to take for a model: the ranking, and times that were not measured."""
