-- What a ledger of prices needs: currencies, validity and corrections of quotes, prices of whole
-- servers and parts, what a host can hold and draw, and outliers among the rents.
--
-- DuckDB cannot loosen a CHECK in place, so quote is made anew with its rows.

ALTER TABLE gpu ADD COLUMN slot_width INTEGER;

ALTER TABLE host ADD COLUMN gpu_id VARCHAR;
ALTER TABLE host ADD COLUMN takes VARCHAR[] DEFAULT [];
ALTER TABLE host ADD COLUMN slot_width INTEGER;
ALTER TABLE host ADD COLUMN max_gpu_w DOUBLE;
ALTER TABLE host ADD COLUMN psu_w DOUBLE;
ALTER TABLE host ADD COLUMN psu_count INTEGER;
ALTER TABLE host ADD COLUMN psu_efficiency DOUBLE;
ALTER TABLE host ADD COLUMN base_w DOUBLE;
ALTER TABLE host ADD COLUMN wall_w DOUBLE;
ALTER TABLE host ADD COLUMN rack_units DOUBLE;
ALTER TABLE host ADD COLUMN memory_gib DOUBLE;
ALTER TABLE host ADD COLUMN spec_source VARCHAR;
ALTER TABLE host ADD COLUMN note VARCHAR;

ALTER TABLE rental ADD COLUMN outlier BOOLEAN DEFAULT false;

ALTER TABLE quote RENAME TO quote_before;

CREATE TABLE quote (
    quote_id     VARCHAR NOT NULL,
    item_kind    VARCHAR NOT NULL CHECK (item_kind IN ('gpu', 'host', 'server', 'part')),
    item_id      VARCHAR NOT NULL,
    price_usd    DECIMAL(14, 2) NOT NULL CHECK (price_usd > 0),
    kind         VARCHAR NOT NULL,
    vendor       VARCHAR NOT NULL,
    quoted_on    DATE NOT NULL,
    source_id    VARCHAR NOT NULL,
    url          VARCHAR,
    note         VARCHAR,
    price_set    VARCHAR,
    currency     VARCHAR NOT NULL DEFAULT 'USD',
    price_quoted DECIMAL(14, 2) CHECK (price_quoted > 0), -- in that currency; NULL where it is USD
    includes     VARCHAR,
    valid_until  DATE,
    file         VARCHAR,
    corrects     VARCHAR, -- the quote that this one stands in for
    origin       VARCHAR NOT NULL CHECK (origin IN ('shipped', 'local'))
);

INSERT INTO quote BY NAME FROM quote_before;

DROP TABLE quote_before;
