-- Times that have every word, in the model, GPU, method, status, verdict, source, basis or day; one
-- page, sorted by one column, then by what tells rows apart. With the predictions where asked.
WITH listed AS (
    SELECT
        m.measurement_id, m.recipe_id, m.gpu_id, m.gpu, m.gpu_count, m.method, m.free_lunch,
        m.activation_checkpointing, m.sharding, m.offloading, m.micro_batch_size,
        m.gradient_accumulation_steps, m.status, m.reason, m.training_days, m.training_days_low,
        m.training_days_high, m.timing, m.implied_mfu, m.implied_mfu_printed, m.verdict,
        m.verdict_reason, m.peak_memory_gib, m.source_id, m.measured_on, m.origin,
        'measured' AS basis
    FROM measurement AS m
    UNION ALL
    SELECT
        concat_ws(':', 'prediction', p.recipe_id, p.gpu_id, p.gpu_count), p.recipe_id, p.gpu_id,
        p.gpu_id, p.gpu_count, 'optimal', p.free_lunch, p.activation_checkpointing, p.sharding,
        p.offloading, p.micro_batch_size, p.gradient_accumulation_steps, p.status, p.reason,
        p.training_days, p.training_days_low, p.training_days_high, 'none', p.implied_mfu,
        p.implied_mfu, p.verdict, p.verdict_reason, NULL, p.source_id, NULL, p.origin, 'predicted'
    FROM prediction AS p
    WHERE $predictions
),
named AS (
    SELECT
        l.*,
        coalesce(g.name, l.gpu) AS gpu_name,
        CASE $sort
            WHEN 'model' THEN l.recipe_id
            WHEN 'gpu' THEN lower(coalesce(g.name, l.gpu))
            WHEN 'method' THEN l.method
            WHEN 'verdict' THEN coalesce(l.verdict, l.status)
            WHEN 'source' THEN l.source_id
            WHEN 'basis' THEN l.basis || l.timing
        END AS text_key,
        CASE $sort
            WHEN 'gpu_count' THEN l.gpu_count
            WHEN 'days' THEN l.training_days
            WHEN 'interval' THEN l.training_days_high / nullif(l.training_days_low, 0)
            WHEN 'mfu' THEN l.implied_mfu
            WHEN 'day' THEN epoch(l.measured_on)
        END AS number_key
    FROM listed AS l
    LEFT JOIN gpu AS g ON g.gpu_id = l.gpu_id
)
SELECT
    measurement_id, recipe_id, coalesce(gpu_id, gpu) AS gpu_id, gpu_count, method,
    free_lunch, activation_checkpointing, sharding, offloading, micro_batch_size,
    gradient_accumulation_steps, status, reason, training_days, training_days_low,
    training_days_high, timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason,
    peak_memory_gib, source_id, measured_on, origin, basis
FROM named
WHERE len($words) = 0 OR len(list_filter($words, lambda word: NOT contains(
    lower(concat_ws(
        ' ', recipe_id, gpu_count || ' × ' || gpu_name, method, status, verdict, source_id,
        measured_on, origin, timing, basis
    )), word))) = 0
ORDER BY
    CASE WHEN NOT $descending THEN text_key END,
    CASE WHEN $descending THEN text_key END DESC NULLS LAST,
    CASE WHEN $descending THEN -number_key ELSE number_key END NULLS LAST,
    recipe_id, gpu_name, gpu_count, method, training_days, measurement_id
LIMIT $limit OFFSET $offset
