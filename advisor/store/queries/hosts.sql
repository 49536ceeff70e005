SELECT
    host_id, name, kind, max_gpus, gpu_id, takes, slot_width, max_gpu_w, psu_w, psu_count,
    psu_efficiency, base_w, wall_w, rack_units, memory_gib, spec_source, note
FROM host
ORDER BY max_gpus, host_id
