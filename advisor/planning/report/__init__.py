"""The report that a PI hands in: one model, many forms.

    sections.py -> Report (sections of text, tables and pictures; a ledger of numbered rows)
    markdown_csv_json.py, pdf.py, xlsx.py -> the same, as text or bytes

Every number in a report is a `Num`: a value with the ledger row that it comes from. A row is a row
of the store, a setting of the grant, a choice of the solver, or computed from other rows.
"""
