"""What developers run: nothing in the product imports it, and no wheel holds it."""
