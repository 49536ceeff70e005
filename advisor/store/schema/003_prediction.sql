-- Times nobody measured, predicted for every recipe on 1, 2, 4 and 8 of every GPU when the store is
-- made: few rows, so that a ranking need not load what predicts. Never mixed with measurements.

CREATE TABLE prediction (
    recipe_id                   VARCHAR NOT NULL,
    gpu_id                      VARCHAR NOT NULL,
    gpu_count                   INTEGER NOT NULL,
    status                      VARCHAR NOT NULL CHECK (status IN ('ok', 'infeasible')),
    reason                      VARCHAR,
    free_lunch                  BOOLEAN, -- the fastest settings that fit, as far as physics can tell
    activation_checkpointing    BOOLEAN,
    sharding                    VARCHAR,
    offloading                  BOOLEAN,
    micro_batch_size            INTEGER,
    gradient_accumulation_steps INTEGER,
    training_days               DOUBLE, -- the bounds are those of the 90 % interval
    training_days_low           DOUBLE,
    training_days_high          DOUBLE,
    implied_mfu                 DOUBLE,
    verdict                     VARCHAR,
    verdict_reason              VARCHAR,
    source_id                   VARCHAR NOT NULL,
    origin                      VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);
