SELECT
    rental_id, provider, instance, gpu_id, gpu_count, price_per_hour_usd, kind, region, priced_on,
    source_id, url, note, outlier, leaves_out,
    CASE WHEN merged_from IS NULL THEN origin ELSE 'merged' END AS origin,
    coalesce(' (from ' || merged_from || ')', '') AS mark
FROM rental
WHERE $gpu_ids IS NULL OR list_contains(string_split($gpu_ids, chr(10)), gpu_id)
ORDER BY gpu_id, gpu_count, priced_on, rental_id
