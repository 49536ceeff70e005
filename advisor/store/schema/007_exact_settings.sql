-- How a model was compiled, its loss computed, its inputs fed, its attention run. What was recorded
-- before had the paper's methods: compiled as free lunch has it, the plain loss over full inputs.

ALTER TABLE measurement ADD COLUMN compilation VARCHAR;
ALTER TABLE measurement ADD COLUMN loss VARCHAR;
ALTER TABLE measurement ADD COLUMN inputs VARCHAR;
ALTER TABLE measurement ADD COLUMN attention VARCHAR;
UPDATE measurement SET loss = 'plain', inputs = 'full' WHERE free_lunch IS NOT NULL;

ALTER TABLE prediction ADD COLUMN compilation VARCHAR;
ALTER TABLE prediction ADD COLUMN loss VARCHAR;
ALTER TABLE prediction ADD COLUMN inputs VARCHAR;
ALTER TABLE prediction ADD COLUMN attention VARCHAR;
UPDATE prediction SET loss = 'plain', inputs = 'full' WHERE free_lunch IS NOT NULL;

DROP VIEW measured_time;
DROP VIEW predicted_time;

CREATE VIEW measured_time AS
SELECT
    measurement_id, recipe_id, coalesce(gpu_id, gpu) AS gpu_id, gpu_count, method, free_lunch,
    activation_checkpointing, sharding, offloading, micro_batch_size, gradient_accumulation_steps,
    compilation, loss, inputs, attention,
    status, reason, 'measured' AS basis, training_days, training_days_low, training_days_high,
    timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason, peak_memory_gib, source_id,
    measured_on, origin, NULL::DOUBLE AS comparison_factor,
    rowid AS place -- in the table, by which DuckDB joins quickest
FROM measurement;

CREATE VIEW predicted_time AS
SELECT
    concat_ws(':', 'prediction', recipe_id, gpu_id, gpu_count) AS measurement_id, recipe_id, gpu_id,
    gpu_count, 'optimal' AS method, free_lunch, activation_checkpointing, sharding, offloading,
    micro_batch_size, gradient_accumulation_steps, compilation, loss, inputs, attention,
    status, reason, 'predicted' AS basis,
    training_days, training_days_low, training_days_high, 'none' AS timing, implied_mfu,
    implied_mfu AS implied_mfu_printed, verdict, verdict_reason, NULL::DOUBLE AS peak_memory_gib,
    source_id, NULL::DATE AS measured_on, origin, comparison_factor
FROM prediction;
