"""What a plan costs: each formula once, for the solver and for the report."""
