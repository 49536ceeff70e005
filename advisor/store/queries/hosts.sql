SELECT
    host_id, name || coalesce(' (from ' || merged_from || ')', '') AS name,
    kind, max_gpus, gpu_id, takes, open_gpus, supported, lanes_per_gpu, slot_width,
    max_gpu_w, psu_w, psu_count, psu_efficiency, base_w, wall_w, rack_units, memory_gib, gpu_link,
    noise_dba, weight_kg, spec_source, note,
    CASE WHEN merged_from IS NULL THEN origin ELSE 'merged' END AS origin
FROM host
ORDER BY max_gpus, host_id
