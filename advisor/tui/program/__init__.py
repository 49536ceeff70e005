"""What the screens share: actions, settings, messages, and the way to the store."""
