"""The program itself: what is installed, where files lie, the browser."""
