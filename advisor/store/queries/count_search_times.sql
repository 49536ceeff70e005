-- How many rows search_times.sql has on all its pages.
WITH listed AS (
    SELECT * EXCLUDE (place) FROM measured_time
    UNION ALL
    SELECT * FROM predicted_time WHERE $predictions
)
SELECT count(*)
FROM listed AS l
LEFT JOIN gpu AS g ON g.gpu_id = l.gpu_id
LEFT JOIN source AS s ON s.source_id = l.source_id
WHERE len($words) = 0 OR len(list_filter($words, lambda word: NOT contains(
    lower(concat_ws(
        ' ', l.recipe_id, l.gpu_count || ' × ' || coalesce(g.name, l.gpu_id), l.method, l.status,
        l.verdict, l.source_id, split_part(s.title, ', ', 1), split_part(s.title, '), ', 2),
        l.measured_on, l.origin, l.timing, l.basis
    )), word))) = 0
