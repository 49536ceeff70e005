"""The report that a PI hands in.

    build_report.py -> Report: sections of text, tables and pictures, and a ledger of numbered rows
    templates/      the prose: request.txt is what the funder reads, annex.txt what may be checked
    facts/          what fills them, each number with its row
    formats/        the report as PDF, Markdown, XLSX, CSV and JSON

Every number in a report is a `Num`: a value with the ledger row that it comes from. A row is a row
of the store, a setting of the grant, a choice of the solver, or computed from other rows.
"""
