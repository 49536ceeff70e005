SELECT
    recipe_id, name || coalesce(' (from ' || merged_from || ')', '') AS name,
    family, parameters, batch_size, training_steps, sequence_length, image_size,
    precision, optimizer, flops_lowest, flops_full, recipe_hash, source_id, note,
    CASE WHEN merged_from IS NULL THEN origin ELSE 'merged' END AS origin, compiles
FROM recipe
ORDER BY family, parameters, recipe_id
