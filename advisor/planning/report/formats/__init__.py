"""A report as PDF, Markdown, XLSX, CSV and JSON."""
