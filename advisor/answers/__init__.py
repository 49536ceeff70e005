"""What is said: one module a question, for the command line and the screens alike."""
