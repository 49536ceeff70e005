-- How far off a predicted time may be when it is compared with another one that is predicted for the
-- same model: 90 % of such times lie within this factor of it. What two predictions share (the model,
-- the software) cancels between them, so it is nearer to 1 than the interval's ends. NULL where a
-- program that did not know it wrote the row.

ALTER TABLE prediction ADD COLUMN comparison_factor DOUBLE;
