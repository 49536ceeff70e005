-- Every time on record, and every reason why there is none.
SELECT *
FROM measured_time
WHERE ($recipe_id IS NULL OR recipe_id = $recipe_id)
    AND ($gpu_id IS NULL OR gpu_id = $gpu_id)
    AND ($gpu_count IS NULL OR gpu_count = $gpu_count)
    AND ($status IS NULL OR status = $status)
    AND ($origin IS NULL OR origin = $origin)
ORDER BY recipe_id, gpu_id, gpu_count, method, training_days, measurement_id
