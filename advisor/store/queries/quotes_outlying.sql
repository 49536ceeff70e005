-- The ids of quotes that advisor.costs.price_book.is_outlying says it of: far from the upper middle
-- of the prices of their item within so many days of them.
WITH apart AS (  -- else no price of the item is far from any middle one
    SELECT item_kind, item_id
    FROM quote
    WHERE NOT list_contains($never, kind)
    GROUP BY item_kind, item_id
    HAVING max(price_usd) > min(price_usd) * $outlying
),
near AS (
    SELECT
        quote_id,
        price_usd,
        count(*) OVER w AS quotes,
        -quantile_disc(-price_usd, 0.5) OVER w AS middle_usd
    FROM quote SEMI JOIN apart USING (item_kind, item_id)
    WHERE NOT list_contains($never, kind)
    WINDOW w AS (
        PARTITION BY item_kind, item_id
        ORDER BY quoted_on - DATE '2000-01-01'
        RANGE BETWEEN $days PRECEDING AND $days FOLLOWING
    )
)
SELECT quote_id
FROM near
WHERE
    quotes >= $outlying_from
    AND (price_usd * $outlying < middle_usd OR price_usd > middle_usd * $outlying)
