"""A grant: its TOML, the institution's rules, the machines it may buy."""
