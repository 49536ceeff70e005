-- Of the user's own times, those that no GPU can reach.
SELECT count(*) FROM measurement WHERE origin = 'local' AND verdict = 'implausible'
