"""One build on a page of its own, and two side by side."""
