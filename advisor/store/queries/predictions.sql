-- What is predicted for one recipe, or for all, for every (GPU, count).
SELECT *
FROM predicted_time
WHERE $recipe_id IS NULL OR recipe_id = $recipe_id
