-- Where a row came from that another's file brought in: the file and its day, "lab.jsonl, 2026-11-28".
-- NULL for the user's own rows and for those that ship. A measurement says it in its lab.

ALTER TABLE gpu ADD COLUMN IF NOT EXISTS merged_from VARCHAR;
ALTER TABLE host ADD COLUMN IF NOT EXISTS merged_from VARCHAR;
ALTER TABLE recipe ADD COLUMN IF NOT EXISTS merged_from VARCHAR;
ALTER TABLE quote ADD COLUMN IF NOT EXISTS merged_from VARCHAR;
ALTER TABLE rental ADD COLUMN IF NOT EXISTS merged_from VARCHAR;
