"""Small controls that the screens share."""
