-- How many times each model has, to put models that can be ranked before those that cannot.
SELECT recipe_id, count(*) AS times
FROM measurement
WHERE status = 'ok' AND gpu_id IS NOT NULL
GROUP BY recipe_id
