"""The command line: `main` knows the commands' names, each command is a module of its own.

A module NAME_command has `add_arguments`, its flags, and `run`, which answers with an exit code. It
is loaded where the command is called and loads what answers in `run`, once the flags are read.
"""
