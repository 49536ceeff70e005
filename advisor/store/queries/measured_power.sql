-- What one GPU drew while its steps were timed, in W: the middle of all records of that GPU. Not with
-- offloading: of the few passes that are timed the update on the host takes a larger share than of a
-- whole step, and the GPU waits for it.
SELECT
    gpu_id,
    median(try_cast(regexp_extract(environment, '"power_w":\s*([0-9.]+)', 1) AS DOUBLE)) AS power_w
FROM measurement
WHERE gpu_id IS NOT NULL
    AND status = 'ok'
    AND NOT coalesce(offloading, FALSE)
    AND contains(environment, '"power_w"')
GROUP BY gpu_id
HAVING power_w > 0
