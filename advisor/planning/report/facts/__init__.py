"""What the templates of a report are filled with: facts of a plan, their numbers as rows."""
