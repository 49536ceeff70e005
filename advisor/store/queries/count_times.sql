-- How many times there are, with the predictions where asked.
SELECT
    (SELECT count(*) FROM measured_time)
    + CASE WHEN $predictions THEN (SELECT count(*) FROM predicted_time) ELSE 0 END
