-- How many machines shared the GPUs; which lab measured it (NULL: the user, or a published source);
-- and how far a lab's time is to be believed: 'ours', 'single', 'confirmed' or 'unconfirmed'.

ALTER TABLE measurement ADD COLUMN node_count INTEGER DEFAULT 1;
ALTER TABLE measurement ADD COLUMN lab VARCHAR;
ALTER TABLE measurement ADD COLUMN standing VARCHAR;
ALTER TABLE measurement ADD COLUMN standing_reason VARCHAR;

DROP VIEW measured_time;
DROP VIEW predicted_time;

CREATE VIEW measured_time AS
SELECT
    measurement_id, recipe_id, coalesce(gpu_id, gpu) AS gpu_id, gpu_count, method, free_lunch,
    activation_checkpointing, sharding, offloading, micro_batch_size, gradient_accumulation_steps,
    compilation, loss, inputs, attention,
    status, reason, 'measured' AS basis, training_days, training_days_low, training_days_high,
    timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason, peak_memory_gib, source_id,
    measured_on, origin, NULL::DOUBLE AS comparison_factor, coalesce(node_count, 1) AS node_count,
    lab, standing, standing_reason,
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
    source_id, NULL::DATE AS measured_on, origin, comparison_factor, 1 AS node_count,
    NULL::VARCHAR AS lab, NULL::VARCHAR AS standing, NULL::VARCHAR AS standing_reason
FROM prediction;
