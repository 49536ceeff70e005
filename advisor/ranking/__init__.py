"""Which build comes first for a question, and how sure that is."""
