"""What the screens have in common: bars, dialogs, lists under tabs, and the welcome."""
