"""What the funder reads."""
