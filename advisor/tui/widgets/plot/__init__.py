"""The picture of cost against training time."""
