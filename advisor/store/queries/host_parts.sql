SELECT host_id, role, detail, price_usd, priced_on, source_id
FROM host_part
ORDER BY host_id, position
