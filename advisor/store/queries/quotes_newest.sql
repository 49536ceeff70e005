-- Where the newest quote of each of these items stands, of several of its day the last by id.
SELECT arg_max(quote.rowid, quote_id)
FROM quote
JOIN (
    SELECT
        unnest($item_kinds::VARCHAR[]) AS asked_kind,
        unnest($item_ids::VARCHAR[]) AS asked_id,
        unnest($days::DATE[]) AS day
) ON item_kind = asked_kind AND item_id = asked_id AND quoted_on = day
WHERE NOT list_contains($never, kind)
    AND quote.rowid NOT IN (SELECT unnest($corrected::BIGINT[]))
GROUP BY item_kind, item_id
