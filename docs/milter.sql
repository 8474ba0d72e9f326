-- A signing table of `oarlock milter` in SQLite. The order of rows is that of signatures.
CREATE TABLE signing (
    -- A domain, an address, *.DOMAIN or *.
    pattern TEXT NOT NULL,
    selector TEXT NOT NULL,
    -- A key file; relative paths count from the directory of the database.
    key TEXT NOT NULL,
    -- active, retiring or test.
    state TEXT NOT NULL DEFAULT 'active',
    -- d= where it is not that of the pattern.
    domain TEXT,
    -- i=
    identity TEXT
);
