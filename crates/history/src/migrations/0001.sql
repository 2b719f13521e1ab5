-- Version 1 of the store, in words that `sql::in_postgres` knows to turn. Times are ms since 1970, those of commits s; numbers are in base units.

CREATE TABLE project (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE machine (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);

CREATE TABLE revision (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project (id),
    commit_name TEXT NOT NULL,
    parent TEXT,
    ordinal INTEGER,
    committed INTEGER,
    UNIQUE (project, commit_name)
);

CREATE TABLE metric (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    better TEXT NOT NULL,
    exact BOOLEAN NOT NULL,
    UNIQUE (name, unit, better, exact)
);

CREATE TABLE benchmark (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    parameters TEXT NOT NULL,
    role INTEGER NOT NULL,
    UNIQUE (project, name, parameters, role)
);

CREATE TABLE alias (
    project INTEGER NOT NULL REFERENCES project (id),
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    PRIMARY KEY (project, old)
);

-- Levels that were accepted; of no benchmark: of all. They outlive their runs.
CREATE TABLE blessing (
    project INTEGER NOT NULL REFERENCES project (id),
    benchmark TEXT NOT NULL,
    run TEXT NOT NULL,
    started INTEGER NOT NULL,
    blessed INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (project, benchmark, run)
);

CREATE TABLE recording (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project (id),
    machine INTEGER NOT NULL REFERENCES machine (id),
    revision INTEGER REFERENCES revision (id),
    digest TEXT NOT NULL,
    started INTEGER NOT NULL,
    added INTEGER NOT NULL,
    changed BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    argv TEXT NOT NULL,
    tool TEXT,
    results INTEGER NOT NULL,
    metric INTEGER REFERENCES metric (id),
    verdict TEXT,
    UNIQUE (project, digest)
);
CREATE INDEX recording_by_time ON recording (project, started);

CREATE TABLE samples (
    recording INTEGER PRIMARY KEY REFERENCES recording (id) ON DELETE CASCADE,
    bytes INTEGER NOT NULL,
    deflated BLOB NOT NULL
);

CREATE TABLE result (
    benchmark INTEGER NOT NULL REFERENCES benchmark (id),
    metric INTEGER NOT NULL REFERENCES metric (id),
    machine INTEGER NOT NULL REFERENCES machine (id),
    started INTEGER NOT NULL,
    recording INTEGER NOT NULL REFERENCES recording (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    revision INTEGER REFERENCES revision (id),
    n INTEGER NOT NULL,
    units INTEGER NOT NULL,
    centre REAL NOT NULL,
    lower REAL,
    upper REAL,
    PRIMARY KEY (benchmark, metric, machine, started, recording, place)
) WITHOUT ROWID;
CREATE INDEX result_by_recording ON result (recording);

CREATE TABLE comparison (
    recording INTEGER NOT NULL REFERENCES recording (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    subject TEXT NOT NULL,
    reference TEXT NOT NULL,
    metric INTEGER NOT NULL REFERENCES metric (id),
    verdict TEXT NOT NULL,
    ratio REAL,
    lower REAL,
    upper REAL,
    PRIMARY KEY (recording, place)
) WITHOUT ROWID;

CREATE TABLE finding (
    recording INTEGER NOT NULL REFERENCES recording (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    code TEXT NOT NULL,
    severity TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (recording, place)
) WITHOUT ROWID;
