-- What is predicted for one recipe where the host has more memory than is assumed of any; the last
-- column is how much it must have.
SELECT *
FROM predicted_with_host
WHERE recipe_id = $recipe_id
