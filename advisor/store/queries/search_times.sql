-- Times that have every word, in the model, GPU, method, status, verdict, source, basis or day; the
-- first, sorted by one column, then by what tells rows apart. With the predictions where asked.
WITH listed AS (
    SELECT * EXCLUDE (place) FROM measured_time
    UNION ALL
    SELECT * FROM predicted_time WHERE $predictions
),
named AS (
    SELECT
        l.*,
        coalesce(g.name, l.gpu_id) AS gpu_name,
        concat_ws(' ', split_part(s.title, ', ', 1), split_part(s.title, '), ', 2)) AS source_name,
        CASE $sort
            WHEN 'model' THEN l.recipe_id
            WHEN 'gpu' THEN lower(coalesce(g.name, l.gpu_id))
            WHEN 'method' THEN l.method
            WHEN 'verdict' THEN coalesce(l.verdict, l.status)
            WHEN 'source' THEN l.source_id
            WHEN 'basis' THEN l.basis || l.timing
        END AS text_key,
        CASE $sort
            WHEN 'days' THEN l.training_days
            WHEN 'interval' THEN l.training_days_high / nullif(l.training_days_low, 0)
            WHEN 'mfu' THEN l.implied_mfu
            WHEN 'day' THEN epoch(l.measured_on)
        END AS number_key
    FROM listed AS l
    LEFT JOIN gpu AS g ON g.gpu_id = l.gpu_id
    LEFT JOIN source AS s ON s.source_id = l.source_id
)
SELECT * EXCLUDE (gpu_name, source_name, text_key, number_key)
FROM named
WHERE len($words) = 0 OR len(list_filter($words, lambda word: NOT contains(
    lower(concat_ws(
        ' ', recipe_id, gpu_count || ' × ' || gpu_name, method, status, verdict, source_id,
        source_name, measured_on, origin, timing, basis
    )), word))) = 0
ORDER BY
    CASE WHEN NOT $descending THEN text_key END,
    CASE WHEN $descending THEN text_key END DESC NULLS LAST,
    CASE WHEN $descending THEN -number_key ELSE number_key END NULLS LAST,
    recipe_id, gpu_name, gpu_count, method, training_days, measurement_id
LIMIT $limit
