-- The first schema. One transaction; recorded in schema_version by advisor.store.
--
-- No PRIMARY KEY: replacing the shipped rows deletes and inserts the same ids in one transaction,
-- which DuckDB's indexes refuse. One writer at a time holds the file, and every insert leaves out
-- the ids that are there already; the tests check that ids stay unique.
-- origin is 'shipped' (from the text tables, replaced when those change) or 'local' (a user's own).

CREATE TABLE schema_version (version INTEGER NOT NULL, name VARCHAR NOT NULL);

CREATE TABLE meta (
    key   VARCHAR NOT NULL,
    value VARCHAR NOT NULL
);

CREATE TABLE source (
    source_id    VARCHAR NOT NULL,
    title        VARCHAR NOT NULL,
    url          VARCHAR,
    how_measured VARCHAR NOT NULL,
    licence      VARCHAR,
    published_on DATE,
    origin       VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

-- Rates in TFLOP/s: dense, FP32 accumulate.
CREATE TABLE gpu (
    gpu_id                VARCHAR NOT NULL,
    name                  VARCHAR NOT NULL,
    aliases               VARCHAR[] NOT NULL,
    vendor                VARCHAR NOT NULL,
    architecture          VARCHAR,
    compute_capability    VARCHAR,
    launched_on           DATE,
    form_factor           VARCHAR NOT NULL,
    memory_gib            DOUBLE NOT NULL,
    memory_bandwidth_gb_s DOUBLE,
    fp32_tflops           DOUBLE,
    tf32_tflops           DOUBLE,
    fp16_tflops           DOUBLE,
    bf16_tflops           DOUBLE,
    fp8_tflops            DOUBLE,
    tdp_w                 DOUBLE,
    nvlink_gb_s           DOUBLE,
    field_sources         VARCHAR NOT NULL,
    note                  VARCHAR,
    origin                VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

CREATE TABLE host (
    host_id  VARCHAR NOT NULL,
    name     VARCHAR NOT NULL,
    kind     VARCHAR NOT NULL,
    max_gpus INTEGER NOT NULL CHECK (max_gpus > 0),
    origin   VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

-- The parts list of a host, in the order in which it is written.
CREATE TABLE host_part (
    host_id   VARCHAR NOT NULL,
    position  INTEGER NOT NULL,
    role      VARCHAR NOT NULL,
    detail    VARCHAR NOT NULL,
    price_usd DECIMAL(14, 2) NOT NULL CHECK (price_usd > 0),
    priced_on DATE NOT NULL,
    source_id VARCHAR NOT NULL,
    origin    VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

CREATE TABLE recipe (
    recipe_id       VARCHAR NOT NULL,
    name            VARCHAR NOT NULL,
    family          VARCHAR NOT NULL,
    parameters      BIGINT NOT NULL,
    batch_size      INTEGER NOT NULL,
    training_steps  BIGINT NOT NULL,
    sequence_length INTEGER,
    image_size      INTEGER,
    precision       VARCHAR NOT NULL,
    optimizer       VARCHAR NOT NULL,
    flops_lowest    DOUBLE NOT NULL,
    flops_full      DOUBLE NOT NULL,
    recipe_hash     VARCHAR NOT NULL,
    source_id       VARCHAR NOT NULL,
    note            VARCHAR,
    origin          VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

-- One row a tried setting, the infeasible, failed and pruned ones too.
CREATE TABLE measurement (
    measurement_id              VARCHAR NOT NULL,
    recipe_id                   VARCHAR NOT NULL,
    recipe_hash                 VARCHAR,
    gpu                         VARCHAR NOT NULL, -- the device's name, as recorded
    gpu_id                      VARCHAR,          -- NULL where no GPU of ours has that name
    gpu_count                   INTEGER NOT NULL CHECK (gpu_count > 0),
    method                      VARCHAR NOT NULL,
    free_lunch                  BOOLEAN,          -- NULL where the settings are not known
    activation_checkpointing    BOOLEAN,
    sharding                    VARCHAR,
    offloading                  BOOLEAN,
    micro_batch_size            INTEGER,
    gradient_accumulation_steps INTEGER,
    status                      VARCHAR NOT NULL
        CHECK (status IN ('ok', 'infeasible', 'failed', 'pruned')),
    reason                      VARCHAR,
    training_days               DOUBLE
        CHECK (training_days > 0 AND isfinite(training_days)),
    training_days_low           DOUBLE,
    training_days_high          DOUBLE,
    timing                      VARCHAR NOT NULL,
    source_id                   VARCHAR NOT NULL,
    measured_on                 DATE,
    pass_s                      DOUBLE[] NOT NULL, -- raw seconds, every one
    sync_pass_s                 DOUBLE[] NOT NULL,
    update_s                    DOUBLE[] NOT NULL,
    first_pass_s                DOUBLE[] NOT NULL,
    fetch_s                     DOUBLE[] NOT NULL,
    step_s                      DOUBLE,
    mfu                         DOUBLE,            -- as the runner counted it
    peak_memory_gib             DOUBLE,
    allocator_retries           INTEGER,
    environment                 VARCHAR NOT NULL,  -- JSON
    implied_mfu                 DOUBLE,            -- these four: advisor.audit, when written
    implied_mfu_printed         DOUBLE,
    verdict                     VARCHAR,
    verdict_reason              VARCHAR,
    origin                      VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

CREATE TABLE quote (
    quote_id  VARCHAR NOT NULL,
    item_kind VARCHAR NOT NULL CHECK (item_kind IN ('gpu', 'host')),
    item_id   VARCHAR NOT NULL,
    price_usd DECIMAL(14, 2) NOT NULL CHECK (price_usd > 0),
    kind      VARCHAR NOT NULL,
    vendor    VARCHAR NOT NULL,
    quoted_on DATE NOT NULL,
    source_id VARCHAR NOT NULL,
    url       VARCHAR,
    note      VARCHAR,
    price_set VARCHAR,
    origin    VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

-- What one instance with gpu_count GPUs costs an hour.
CREATE TABLE rental (
    rental_id          VARCHAR NOT NULL,
    provider           VARCHAR NOT NULL,
    instance           VARCHAR,
    gpu_id             VARCHAR NOT NULL,
    gpu_count          INTEGER NOT NULL CHECK (gpu_count > 0),
    price_per_hour_usd DECIMAL(14, 4) NOT NULL CHECK (price_per_hour_usd > 0),
    kind               VARCHAR NOT NULL, -- 'on-demand', 'reserved' or 'spot'
    region             VARCHAR,
    priced_on          DATE NOT NULL,
    source_id          VARCHAR NOT NULL,
    url                VARCHAR,
    note               VARCHAR,
    origin             VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);
