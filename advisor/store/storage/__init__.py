"""The file of the store: found, opened, migrated, and refused where it is not ours."""
