SELECT
    gpu_id, name || coalesce(' (from ' || merged_from || ')', '') AS name,
    CASE WHEN merged_from IS NULL THEN aliases ELSE list_append(aliases, gpu.name) END AS aliases,
    vendor, architecture, compute_capability, launched_on, form_factor,
    memory_gib, memory_bandwidth_gb_s, fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops,
    fp8_tflops, tdp_w, nvlink_gb_s, field_sources, note, slot_width, cooling
FROM gpu
ORDER BY launched_on NULLS LAST, gpu_id
