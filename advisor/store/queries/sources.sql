SELECT source_id, title, url, how_measured, licence, published_on
FROM source
ORDER BY source_id
