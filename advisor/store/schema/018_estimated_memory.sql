-- What each GPU is to hold, estimated, so that a fit is told with its memory where nobody measured it.

DROP VIEW predicted_time;
DROP VIEW predicted_with_host;

ALTER TABLE prediction ADD COLUMN peak_memory_gib DOUBLE;

CREATE VIEW predicted_time AS
SELECT
    concat_ws(':', 'prediction', recipe_id, gpu_id, gpu_count) AS measurement_id, recipe_id, gpu_id,
    gpu_count, 'optimal' AS method, free_lunch, activation_checkpointing, sharding, offloading,
    micro_batch_size, gradient_accumulation_steps, compilation, loss, inputs, attention, weights, matmul, states,
    status, reason, 'predicted' AS basis,
    training_days, training_days_low, training_days_high, 'none' AS timing, implied_mfu,
    implied_mfu AS implied_mfu_printed, verdict, verdict_reason, peak_memory_gib,
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
    implied_mfu AS implied_mfu_printed, verdict, verdict_reason, peak_memory_gib,
    source_id, NULL::DATE AS measured_on, origin, comparison_factor, 1 AS node_count,
    NULL::VARCHAR AS lab,
    CASE WHEN training_days IS NOT NULL THEN 'estimated' END AS rests_on,
    paper_settings_days, paper_settings_days_low, paper_settings_days_high,
    other_software_days, other_software_days_low, other_software_days_high, evidence_pieces, evidence_nearest,
    host_memory_gib
FROM prediction
WHERE host_memory_gib > 0;
