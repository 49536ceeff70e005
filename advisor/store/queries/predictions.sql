-- What is predicted for one recipe or for all, on one kind of GPU or on all, for every count.
SELECT *
FROM predicted_time
WHERE ($recipe_id IS NULL OR recipe_id = $recipe_id) AND ($gpu_id IS NULL OR gpu_id = $gpu_id)
