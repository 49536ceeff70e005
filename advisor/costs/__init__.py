"""What a machine costs: quotes, parts, ownership, rent, and where they break even."""
