-- How many rows search_times.sql has on all its pages.
SELECT count(*)
FROM measurement AS m
LEFT JOIN gpu AS g ON g.gpu_id = m.gpu_id
WHERE len($words) = 0 OR len(list_filter($words, lambda word: NOT contains(
    lower(concat_ws(
        ' ', m.recipe_id, m.gpu_count || ' × ' || coalesce(g.name, m.gpu), m.method, m.status,
        m.verdict, m.source_id, m.measured_on, m.origin, m.timing
    )), word))) = 0
