"""How the factors of the prediction follow from evidence; run by developers only."""
