-- What is predicted for one recipe, or on one kind of GPU, where the host has more memory than is assumed of any; the last
-- column is how much it must have.
SELECT *
FROM predicted_with_host
WHERE ($recipe_id IS NULL OR recipe_id = $recipe_id) AND ($gpu_id IS NULL OR gpu_id = $gpu_id)
