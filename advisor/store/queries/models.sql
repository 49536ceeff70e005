SELECT
    recipe_id, name, family, parameters, batch_size, training_steps, sequence_length, image_size,
    precision, optimizer, flops_lowest, flops_full, recipe_hash, source_id, note, origin, compiles
FROM recipe
ORDER BY family, parameters, recipe_id
