"""How a model can be trained: the settings there are, and which a search tries."""
