-- The quote that counts for each item, and the range of those as good: the rule of
-- advisor.prices.choose_quotes, for stores with too many quotes to read them all. The tests hold
-- the two against each other.
WITH
known AS MATERIALIZED (
    SELECT
        rowid AS place, item_kind, item_id, quote_id, price_usd, quoted_on, corrects,
        -- Fresh before stale, the user's own before others', the better class of kinds.
        100 * (quoted_on >= $fresh_from AND coalesce(valid_until >= $as_of, true))::INTEGER
            + 10 * (origin = 'local')::INTEGER
            + CASE
                WHEN kind IN ('reseller-quote', 'parts-list', 'street', 'list') THEN 3
                WHEN kind = 'used' THEN 2
                WHEN kind = 'secondary' THEN 1
                ELSE 0
            END AS quality,
        -- The newest; of one day the better kind.
        10 * (quoted_on - DATE '2000-01-01') + CASE kind
            WHEN 'reseller-quote' THEN 3 WHEN 'parts-list' THEN 2 WHEN 'street' THEN 1 ELSE 0
        END AS newness
    FROM quote
    WHERE CASE
        WHEN $paper THEN price_set = 'paper'
        ELSE kind <> 'rounded' AND ($known_until IS NULL OR quoted_on <= $known_until)
    END
),
standing AS MATERIALIZED (
    FROM known
    WHERE quote_id NOT IN (SELECT corrects FROM known WHERE corrects IS NOT NULL)
),
best AS (
    SELECT item_kind, item_id, max(quality) AS quality FROM standing GROUP BY item_kind, item_id
),
equals AS MATERIALIZED (
    FROM standing SEMI JOIN best USING (item_kind, item_id, quality)
),
newest AS (
    SELECT item_kind, item_id, max(newness) AS newness FROM equals GROUP BY item_kind, item_id
),
chosen AS MATERIALIZED (
    SELECT
        item_kind, item_id, any_value(quoted_on) AS quoted_on,
        list_sort(list({'price_usd': price_usd, 'quote_id': quote_id, 'place': place}))
            [count(*) // 2 + 1] AS pick
    FROM equals SEMI JOIN newest USING (item_kind, item_id, newness)
    GROUP BY item_kind, item_id
),
near AS (
    SELECT item_kind, item_id, list_sort(list(equals.price_usd)) AS prices
    FROM equals JOIN chosen USING (item_kind, item_id)
    WHERE equals.quoted_on > chosen.quoted_on - $stale_days
    GROUP BY item_kind, item_id
),
kept AS (
    SELECT
        item_kind, item_id,
        CASE WHEN len(prices) < 3 THEN prices ELSE list_filter(
            prices,
            lambda price: price BETWEEN prices[len(prices) // 2 + 1] / $outlying
                AND prices[len(prices) // 2 + 1] * $outlying
        ) END AS prices
    FROM near
)
SELECT
    quote.quote_id, quote.item_kind, quote.item_id, quote.price_usd, kind, vendor,
    quote.quoted_on, source_id, url, note, price_set, currency, price_quoted, includes,
    valid_until, file, corrects, origin,
    least(list_min(prices), quote.price_usd) AS low_usd,
    greatest(list_max(prices), quote.price_usd) AS high_usd,
    len(prices) AS quotes,
    NOT list_contains(prices, quote.price_usd) AS outlying
FROM chosen
JOIN kept USING (item_kind, item_id)
JOIN quote ON quote.rowid = chosen.pick.place
ORDER BY quote.item_kind, quote.item_id
