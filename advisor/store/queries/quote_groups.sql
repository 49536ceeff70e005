-- The newest day of every group of quotes that the rule of costs.price_book tells apart. Rounded
-- figures count for the paper alone; what is corrected counts no more. In no order.
SELECT
    item_kind, item_id, kind, origin,
    quoted_on >= $fresh_from AND coalesce(valid_until >= $as_of, true) AS fresh,
    max(quoted_on) AS newest
FROM quote
WHERE NOT list_contains($never, kind)
    AND ($known_until IS NULL OR quoted_on <= $known_until)
    AND quote.rowid NOT IN (SELECT unnest($corrected::BIGINT[]))
GROUP BY ALL
