"""The answer to `advisor rank`: its sentence, table, doubts and exports."""
