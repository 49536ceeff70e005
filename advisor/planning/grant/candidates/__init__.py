"""What a plan of a grant may buy, rent and use, and what it pays besides."""
