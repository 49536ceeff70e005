"""A measurement on this machine: asked for, run in a child process, kept in the store."""
