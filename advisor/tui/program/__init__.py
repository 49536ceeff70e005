"""What the screens share and nobody sees: actions, settings, messages, and the way to the store."""
