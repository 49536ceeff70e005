-- For the best groups of each item: its chosen quote, the middle one by price of the newest day
-- (of two the dearer), and what the quotes of the year up to it ask. The groups are given as parallel lists, a
-- group each. In no order.
WITH best AS (
    SELECT
        unnest($item_kinds::VARCHAR[]) AS item_kind,
        unnest($item_ids::VARCHAR[]) AS item_id,
        unnest($kinds::VARCHAR[]) AS kind,
        unnest($origins::VARCHAR[]) AS origin,
        unnest($freshes::BOOLEAN[]) AS fresh,
        unnest($newests::DATE[]) AS newest,
        unnest($is_first::BOOLEAN[]) AS is_first, -- whether the chosen quote is of this kind
        unnest($lowest::DECIMAL(18, 3)[]) AS lowest, -- beyond these two a price is not counted
        unnest($highest::DECIMAL(18, 3)[]) AS highest
)
SELECT
    item_kind,
    item_id,
    quantile_disc(
        {'price_usd': price_usd, 'quote_id': quote_id, 'place': quote.rowid}, 0.5
        ORDER BY {'price_usd': price_usd, 'quote_id': quote_id, 'place': quote.rowid} DESC
    ) FILTER (quoted_on = newest AND is_first).place AS place,
    quantile_disc(price_usd, 0.5 ORDER BY price_usd DESC) AS middle_usd,
    min(price_usd) FILTER (price_usd BETWEEN lowest AND highest) AS low_usd,
    max(price_usd) FILTER (price_usd BETWEEN lowest AND highest) AS high_usd,
    count(*) FILTER (price_usd BETWEEN lowest AND highest) AS quotes
FROM quote
JOIN best USING (item_kind, item_id, kind, origin)
WHERE (quoted_on >= $fresh_from AND coalesce(valid_until >= $as_of, true)) = fresh
    AND quoted_on > newest - $stale_days
    AND ($known_until IS NULL OR quoted_on <= $known_until)
    AND quote.rowid NOT IN (SELECT unnest($corrected::BIGINT[]))
GROUP BY item_kind, item_id
