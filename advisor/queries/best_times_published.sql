-- Which time stands for each (GPU, count) where published times are taken at face value: the
-- fastest published one that is not naive, else the fastest naive one, else what else is on
-- record; a row that did not fit only where nothing else is there.
WITH candidate AS MATERIALIZED (
    SELECT
        *,
        status = 'ok' AS ok,
        method = 'naive' AS naive,
        timing = 'synchronised' AS synchronised,
        coalesce(verdict = 'implausible', false) AS implausible,
        origin = 'shipped' AND timing = 'unsynchronised' AS printed
    FROM measurement
    WHERE recipe_id = $recipe_id
        AND gpu_id IS NOT NULL
        AND status IN ('ok', 'infeasible')
        -- A time for an earlier definition of the recipe is evidence, but not of this recipe.
        AND (
            recipe_hash IS NULL
            OR recipe_hash = (SELECT r.recipe_hash FROM recipe AS r WHERE r.recipe_id = $recipe_id)
        )
),
choice AS (
    SELECT
        gpu_id,
        gpu_count,
        arg_min(
            measurement_id,
            row(
                CASE
                    WHEN NOT ok THEN 4
                    WHEN printed THEN 0
                    ELSE 2
                END + naive::INTEGER,
                training_days,
                measurement_id
            )
        ) AS chosen,
        NULL::VARCHAR AS published,
        arg_min(measurement_id, row(training_days, measurement_id)) FILTER (ok AND naive) AS naive
    FROM candidate
    GROUP BY gpu_id, gpu_count
)
SELECT
    CASE candidate.measurement_id
        WHEN choice.chosen THEN 'chosen'
        WHEN choice.published THEN 'published'
        ELSE 'naive'
    END AS part,
    measurement_id, recipe_id, candidate.gpu_id, candidate.gpu_count, method,
    free_lunch, activation_checkpointing, sharding, offloading, micro_batch_size,
    gradient_accumulation_steps, status, reason, training_days, training_days_low,
    training_days_high, timing, implied_mfu, implied_mfu_printed, verdict, verdict_reason,
    peak_memory_gib, source_id, measured_on, origin
FROM candidate
JOIN choice
    ON candidate.gpu_id = choice.gpu_id
    AND candidate.gpu_count = choice.gpu_count
    AND candidate.measurement_id IN (choice.chosen, choice.published, choice.naive)
ORDER BY candidate.gpu_id, candidate.gpu_count, part
