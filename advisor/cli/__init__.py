"""Commands that are more than one question; each is loaded only when it is called."""
