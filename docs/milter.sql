-- A signing table of `oarlock milter` in SQLite. Signatures stand in the order of the rows.
CREATE TABLE signing (
    -- A domain, an address, *.DOMAIN or *.
    pattern TEXT NOT NULL,
    selector TEXT NOT NULL,
    -- The key file. A relative path counts from the directory of the database.
    key TEXT NOT NULL,
    -- active, retiring or test.
    state TEXT NOT NULL DEFAULT 'active',
    -- d=, if it is not the domain of the pattern.
    domain TEXT,
    -- i=
    identity TEXT,
    -- The dates in UTC between which the row signs: 2026-07-01 or 2026-07-01T12:00:00Z. A table may lack these columns.
    valid_from TEXT,
    valid_until TEXT
);
