-- Software other than ours has a middle of its own, not only an interval around our time.

DROP VIEW measured_time;
DROP VIEW predicted_time;
DROP VIEW predicted_with_host;

ALTER TABLE prediction ADD COLUMN other_software_days DOUBLE;

CREATE VIEW measured_time AS
SELECT
    measurement_id, recipe_id, coalesce(gpu_id, gpu) AS gpu_id, gpu_count, method, free_lunch,
    activation_checkpointing, sharding, offloading, micro_batch_size, gradient_accumulation_steps,
    compilation, loss, inputs, attention, weights, matmul, states,
    status, reason, 'measured' AS basis, training_days, training_days_low, training_days_high,
    timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason, peak_memory_gib, source_id,
    measured_on, origin, NULL::DOUBLE AS comparison_factor, coalesce(node_count, 1) AS node_count,
    lab,
    CASE
        WHEN training_days IS NULL THEN NULL
        WHEN origin = 'local' AND lab IS NULL THEN 'measured-here'
        ELSE 'measured-elsewhere'
    END AS rests_on,
    NULL::DOUBLE AS paper_settings_days, NULL::DOUBLE AS paper_settings_days_low,
    NULL::DOUBLE AS paper_settings_days_high, NULL::DOUBLE AS other_software_days,
    NULL::DOUBLE AS other_software_days_low, NULL::DOUBLE AS other_software_days_high, NULL::INTEGER AS evidence_pieces,
    NULL::VARCHAR AS evidence_nearest,
    rowid AS place -- in the table, by which DuckDB joins quickest
FROM measurement;

CREATE VIEW predicted_time AS
SELECT
    concat_ws(':', 'prediction', recipe_id, gpu_id, gpu_count) AS measurement_id, recipe_id, gpu_id,
    gpu_count, 'optimal' AS method, free_lunch, activation_checkpointing, sharding, offloading,
    micro_batch_size, gradient_accumulation_steps, compilation, loss, inputs, attention, weights, matmul, states,
    status, reason, 'predicted' AS basis,
    training_days, training_days_low, training_days_high, 'none' AS timing, implied_mfu,
    implied_mfu AS implied_mfu_printed, verdict, verdict_reason, NULL::DOUBLE AS peak_memory_gib,
    source_id, NULL::DATE AS measured_on, origin, comparison_factor, 1 AS node_count,
    NULL::VARCHAR AS lab,
    CASE WHEN training_days IS NOT NULL THEN 'estimated' END AS rests_on,
    paper_settings_days, paper_settings_days_low, paper_settings_days_high,
    other_software_days, other_software_days_low, other_software_days_high, evidence_pieces, evidence_nearest
FROM prediction
WHERE host_memory_gib = 0;

CREATE VIEW predicted_with_host AS
SELECT
    concat_ws(':', 'prediction', recipe_id, gpu_id, gpu_count) AS measurement_id, recipe_id, gpu_id,
    gpu_count, 'optimal' AS method, free_lunch, activation_checkpointing, sharding, offloading,
    micro_batch_size, gradient_accumulation_steps, compilation, loss, inputs, attention, weights, matmul, states,
    status, reason, 'predicted' AS basis,
    training_days, training_days_low, training_days_high, 'none' AS timing, implied_mfu,
    implied_mfu AS implied_mfu_printed, verdict, verdict_reason, NULL::DOUBLE AS peak_memory_gib,
    source_id, NULL::DATE AS measured_on, origin, comparison_factor, 1 AS node_count,
    NULL::VARCHAR AS lab,
    CASE WHEN training_days IS NOT NULL THEN 'estimated' END AS rests_on,
    paper_settings_days, paper_settings_days_low, paper_settings_days_high,
    other_software_days, other_software_days_low, other_software_days_high, evidence_pieces, evidence_nearest,
    host_memory_gib
FROM prediction
WHERE host_memory_gib > 0;
