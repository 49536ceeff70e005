"""Which GPU machine to buy for the model you want to pre-train."""

__version__ = "0.1.0"
