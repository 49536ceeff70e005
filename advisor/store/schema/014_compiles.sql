-- Whether a model is compiled: a search of one that is not has fewer settings to try.

ALTER TABLE recipe ADD COLUMN compiles BOOLEAN DEFAULT TRUE;
UPDATE recipe SET compiles = coalesce(definition NOT LIKE '%"compile":false%', TRUE);
