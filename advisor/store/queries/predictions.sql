-- What is predicted for one recipe, or for all, for every (GPU, count).
SELECT
    gpu_id, gpu_count, status, reason, free_lunch, activation_checkpointing, sharding, offloading,
    micro_batch_size, gradient_accumulation_steps, training_days, training_days_low,
    training_days_high, implied_mfu, verdict, verdict_reason, source_id, origin,
    comparison_factor, recipe_id
FROM prediction
WHERE $recipe_id IS NULL OR recipe_id = $recipe_id
