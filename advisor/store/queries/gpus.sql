SELECT
    gpu_id, name, aliases, vendor, architecture, compute_capability, launched_on, form_factor,
    memory_gib, memory_bandwidth_gb_s, fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops,
    fp8_tflops, tdp_w, nvlink_gb_s, field_sources, note, slot_width, cooling
FROM gpu
ORDER BY launched_on NULLS LAST, gpu_id
