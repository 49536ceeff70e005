-- Times that have every word, in the model, GPU, method, status, verdict, source or day; one page,
-- sorted by one column, then by what tells rows apart.
WITH listed AS (
    SELECT
        m.*,
        coalesce(g.name, m.gpu) AS gpu_name,
        CASE $sort
            WHEN 'model' THEN m.recipe_id
            WHEN 'gpu' THEN lower(coalesce(g.name, m.gpu))
            WHEN 'method' THEN m.method
            WHEN 'verdict' THEN coalesce(m.verdict, m.status)
            WHEN 'source' THEN m.source_id
        END AS text_key,
        CASE $sort
            WHEN 'gpu_count' THEN m.gpu_count
            WHEN 'days' THEN m.training_days
            WHEN 'mfu' THEN m.implied_mfu
            WHEN 'day' THEN epoch(m.measured_on)
        END AS number_key
    FROM measurement AS m
    LEFT JOIN gpu AS g ON g.gpu_id = m.gpu_id
)
SELECT
    measurement_id, recipe_id, coalesce(gpu_id, gpu) AS gpu_id, gpu_count, method,
    free_lunch, activation_checkpointing, sharding, offloading, micro_batch_size,
    gradient_accumulation_steps, status, reason, training_days, training_days_low,
    training_days_high, timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason,
    peak_memory_gib, source_id, measured_on, origin
FROM listed
WHERE len($words) = 0 OR len(list_filter($words, lambda word: NOT contains(
    lower(concat_ws(
        ' ', recipe_id, gpu_count || ' × ' || gpu_name, method, status, verdict, source_id,
        measured_on, origin, timing
    )), word))) = 0
ORDER BY
    CASE WHEN NOT $descending THEN text_key END,
    CASE WHEN $descending THEN text_key END DESC NULLS LAST,
    CASE WHEN $descending THEN -number_key ELSE number_key END NULLS LAST,
    recipe_id, gpu_name, gpu_count, method, training_days, measurement_id
LIMIT $limit OFFSET $offset
