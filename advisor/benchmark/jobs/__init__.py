"""Measurements elsewhere: the files that SLURM and SkyPilot run, and the records that come back."""
