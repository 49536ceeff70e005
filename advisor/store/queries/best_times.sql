-- What was recorded of one model, or on one kind of GPU, for each (GPU, count) and comes first where evidence is audited: what a search on
-- the user's own machine found, then others' times that were synchronised with the device, then others
-- that are possible. Whether it stands, or the prediction in its place, `one_clock` says
-- (ranking/times.py). Where the only times with tuned settings are impossible the row is that one: a
-- naive time instead would compare what cannot be compared. Beside it what stands where published
-- times are taken at face value: the fastest published one that is not naive, else the fastest naive
-- one, else what else is on record; and the fastest naive one. In no order.
WITH candidate AS (
    SELECT
        rowid AS place,
        recipe_id,
        gpu_id,
        gpu_count,
        training_days,
        measurement_id,
        status = 'ok' AS ok,
        method = 'naive' AS naive,
        timing = 'synchronised' AS synchronised,
        verdict IS NOT DISTINCT FROM 'implausible' AS implausible,
        origin = 'shipped' AND timing = 'unsynchronised' AS printed,
        origin = 'local' AND lab IS NULL AND method = 'optimal' AS searched_here
    FROM measurement
    WHERE ($recipe_id IS NULL OR recipe_id = $recipe_id)
        AND ($gpu_id IS NULL OR gpu_id = $gpu_id)
        AND gpu_id IS NOT NULL
        AND status IN ('ok', 'infeasible')
        AND coalesce(node_count, 1) = 1 -- a time of several machines is none of one
        -- What a model was first trained on, by others, is no time of this recipe, nor is that of
        -- another training.
        AND method NOT IN ('original', 'changes-training')
        -- A time for an earlier definition of the recipe is evidence, but not of this recipe.
        AND (
            recipe_hash IS NULL
            OR (recipe_id, recipe_hash) IN (SELECT (r.recipe_id, r.recipe_hash) FROM recipe AS r)
        )
),
choice AS (
    SELECT
        gpu_id,
        gpu_count,
        arg_min(
            place,
            row(
                CASE
                    WHEN NOT ok THEN 7 + naive::INTEGER
                    WHEN synchronised AND NOT naive AND NOT implausible
                        THEN -(searched_here::INTEGER)
                    WHEN NOT naive AND NOT implausible THEN 1
                    WHEN synchronised AND NOT implausible THEN 2
                    WHEN NOT naive AND printed THEN 3
                    WHEN NOT naive THEN 4
                    WHEN NOT implausible THEN 5
                    ELSE 6
                END,
                training_days,
                measurement_id
            )
        ) AS chosen,
        arg_min(
            place,
            row(
                CASE
                    WHEN NOT ok THEN 4
                    WHEN printed THEN 0
                    ELSE 2
                END + naive::INTEGER,
                training_days,
                measurement_id
            )
        ) AS published,
        arg_min(place, row(training_days, measurement_id)) FILTER (ok AND naive) AS naive
    FROM candidate
    GROUP BY recipe_id, gpu_id, gpu_count
),
wanted AS (
    SELECT 'chosen' AS part, chosen AS place FROM choice
    UNION ALL
    SELECT 'published', published FROM choice WHERE published <> chosen
    UNION ALL
    SELECT 'naive', naive FROM choice WHERE naive <> chosen
)
SELECT time.*, part
FROM measured_time AS time
JOIN wanted ON time.place = wanted.place
WHERE $recipe_id IS NULL OR recipe_id = $recipe_id
