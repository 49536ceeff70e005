"""The folder that `advisor bench -- COMMAND` puts first on PYTHONPATH of a user's training."""
