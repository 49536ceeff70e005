"""What is trained, as the prediction sees it."""
