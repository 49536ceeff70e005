-- Every time on record, and every reason why there is none, one page at a time.
SELECT
    measurement_id, recipe_id, coalesce(gpu_id, gpu) AS gpu_id, gpu_count, method,
    free_lunch, activation_checkpointing, sharding, offloading, micro_batch_size,
    gradient_accumulation_steps, status, reason, training_days, training_days_low,
    training_days_high, timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason,
    peak_memory_gib, source_id, measured_on, origin
FROM measurement
WHERE ($recipe_id IS NULL OR recipe_id = $recipe_id)
    AND ($gpu_id IS NULL OR coalesce(gpu_id, gpu) = $gpu_id)
    AND ($gpu_count IS NULL OR gpu_count = $gpu_count)
    AND ($method IS NULL OR method = $method)
    AND ($status IS NULL OR status = $status)
    AND ($verdict IS NULL OR verdict = $verdict)
    AND ($origin IS NULL OR origin = $origin)
ORDER BY recipe_id, coalesce(gpu_id, gpu), gpu_count, method, training_days, measurement_id
LIMIT $limit OFFSET $offset
