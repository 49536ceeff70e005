SELECT host_id, name, kind, max_gpus
FROM host
ORDER BY max_gpus, host_id
