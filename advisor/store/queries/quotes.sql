-- In the order of Quote's fields.
SELECT
    quote_id, item_kind, item_id, price_usd, kind,
    vendor || coalesce(' (from ' || merged_from || ')', '') AS vendor,
    quoted_on, source_id, url, note,
    price_set, currency, price_quoted, includes, valid_until, delivery, warranty, file, corrects,
    CASE WHEN merged_from IS NULL THEN origin ELSE 'merged' END AS origin
FROM quote
ORDER BY item_kind, item_id, quoted_on, quote_id
