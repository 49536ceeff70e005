"""What binds, what would flip a plan, and what to relax."""
