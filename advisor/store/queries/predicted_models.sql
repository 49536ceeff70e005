-- Which models have a predicted time on some machine.
SELECT DISTINCT recipe_id
FROM prediction
WHERE status = 'ok'
