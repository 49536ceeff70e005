-- What tells which card fits which chassis, what a buyer needs beside the price, and what a rent
-- leaves out. host.takes held form factors before; the shipped rows are replaced with the text.

ALTER TABLE gpu ADD COLUMN cooling VARCHAR;

ALTER TABLE host ADD COLUMN open_gpus INTEGER;
ALTER TABLE host ADD COLUMN supported VARCHAR[] DEFAULT [];
ALTER TABLE host ADD COLUMN lanes_per_gpu INTEGER;
ALTER TABLE host ADD COLUMN gpu_link VARCHAR;
ALTER TABLE host ADD COLUMN noise_dba DOUBLE;
ALTER TABLE host ADD COLUMN weight_kg DOUBLE;

ALTER TABLE quote ADD COLUMN delivery VARCHAR;
ALTER TABLE quote ADD COLUMN warranty VARCHAR;

ALTER TABLE rental ADD COLUMN leaves_out VARCHAR;
