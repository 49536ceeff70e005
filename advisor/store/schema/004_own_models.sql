-- What a user's own model is, as JSON in the words of a recipe file, so that it can be predicted
-- whenever predictions are made anew. NULL for shipped recipes (their files say it), and where only
-- what was counted is known. Data only: nothing in it is ever run.

ALTER TABLE recipe ADD COLUMN definition VARCHAR;
