-- Version 1 of a farm's tables, in the dialect that the history's `in_postgres` translates. Times
-- are ms since 1970. States, kinds and scopes are numbers, in the order of the lists in `model`.
-- `said` has the complete submitted data as JSON; the other columns are those used in queries.
-- `n0` to `n7` are sums by state, changed in the same transaction as the rows that they count.

CREATE TABLE farm_owner (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- `newest` is the newest version that has a build. `last_build` is 0 if there is none.
CREATE TABLE farm_project (
    id INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL REFERENCES farm_owner (id),
    name TEXT NOT NULL,
    said TEXT NOT NULL,
    newest INTEGER,
    last_build INTEGER NOT NULL,
    n0 INTEGER NOT NULL, n1 INTEGER NOT NULL, n2 INTEGER NOT NULL, n3 INTEGER NOT NULL,
    n4 INTEGER NOT NULL, n5 INTEGER NOT NULL, n6 INTEGER NOT NULL, n7 INTEGER NOT NULL,
    UNIQUE (owner, name)
);
CREATE INDEX farm_project_latest ON farm_project (last_build, id);

-- The sums of a version count targets by the state of the last build on them.
CREATE TABLE farm_version (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES farm_project (id),
    name TEXT NOT NULL,
    place INTEGER NOT NULL,
    added INTEGER NOT NULL,
    is_gone BOOLEAN NOT NULL,
    said TEXT NOT NULL,
    n0 INTEGER NOT NULL, n1 INTEGER NOT NULL, n2 INTEGER NOT NULL, n3 INTEGER NOT NULL,
    n4 INTEGER NOT NULL, n5 INTEGER NOT NULL, n6 INTEGER NOT NULL, n7 INTEGER NOT NULL,
    UNIQUE (project, name)
);
CREATE INDEX farm_version_place ON farm_version (project, place, id);

CREATE TABLE farm_target (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    facts TEXT NOT NULL
);

-- Requirements of jobs: a specific target, or facts. The targets that meet a demand are stored in
-- `farm_fit` when either of them is added.
CREATE TABLE farm_demand (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    target INTEGER REFERENCES farm_target (id),
    facts TEXT NOT NULL
);
CREATE TABLE farm_fit (
    target INTEGER NOT NULL REFERENCES farm_target (id),
    demand INTEGER NOT NULL REFERENCES farm_demand (id),
    PRIMARY KEY (target, demand)
) WITHOUT ROWID;

CREATE TABLE farm_node (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tool TEXT NOT NULL,
    instance TEXT NOT NULL,
    targets TEXT NOT NULL,
    seen INTEGER NOT NULL,
    clock_ahead REAL NOT NULL,
    drained TEXT,
    calibration TEXT
);
CREATE TABLE farm_calibration (
    id INTEGER PRIMARY KEY,
    node INTEGER NOT NULL REFERENCES farm_node (id),
    said TEXT NOT NULL
);
CREATE INDEX farm_calibration_node ON farm_calibration (node, id);

-- Progress: 0 queued, 1 leased, 2 done, 3 cancelled, 4 waits until `due` to be queued again. `asked`
-- identifies the requested work; it is unique among unfinished jobs. Smaller numbers are more urgent.
-- `lease`, `node`, `target`, `nonce` and `until` are those of the last lease.
CREATE TABLE farm_job (
    id INTEGER PRIMARY KEY,
    asked TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES farm_project (id),
    version INTEGER NOT NULL REFERENCES farm_version (id),
    base INTEGER REFERENCES farm_version (id),
    kind INTEGER NOT NULL,
    demand INTEGER NOT NULL REFERENCES farm_demand (id),
    urgency INTEGER NOT NULL,
    round INTEGER NOT NULL,
    progress INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    due INTEGER,
    lease INTEGER,
    node INTEGER REFERENCES farm_node (id),
    target INTEGER REFERENCES farm_target (id),
    nonce TEXT,
    until INTEGER,
    build INTEGER,
    added INTEGER NOT NULL
);
CREATE INDEX farm_job_queued ON farm_job (demand, kind, urgency, id) WHERE progress = 0;
CREATE INDEX farm_job_urgent ON farm_job (urgency, id) WHERE progress = 0;
CREATE INDEX farm_job_until ON farm_job (until) WHERE progress = 1;
CREATE INDEX farm_job_node ON farm_job (node) WHERE progress = 1;
CREATE INDEX farm_job_due ON farm_job (due) WHERE progress = 4;
CREATE UNIQUE INDEX farm_job_open ON farm_job (asked) WHERE progress IN (0, 1, 4);
CREATE INDEX farm_job_live ON farm_job (id) WHERE progress IN (0, 1, 4);
CREATE INDEX farm_job_project ON farm_job (project, id) WHERE progress IN (0, 1, 4);

-- Each lease of a job to a node. `how` it ended: handed_in, expired, cancelled.
CREATE TABLE farm_lease (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES farm_job (id),
    node INTEGER NOT NULL REFERENCES farm_node (id),
    target INTEGER NOT NULL REFERENCES farm_target (id),
    nonce TEXT NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER,
    how TEXT,
    samples TEXT
);
CREATE INDEX farm_lease_job ON farm_lease (job, id);

-- At most one build ends a job; all others are evidence.
CREATE TABLE farm_build (
    id INTEGER PRIMARY KEY,
    handed TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES farm_project (id),
    version INTEGER NOT NULL REFERENCES farm_version (id),
    target INTEGER NOT NULL REFERENCES farm_target (id),
    node TEXT NOT NULL,
    job INTEGER REFERENCES farm_job (id),
    lease INTEGER REFERENCES farm_lease (id),
    base INTEGER REFERENCES farm_version (id),
    kind INTEGER NOT NULL,
    counts BOOLEAN NOT NULL,
    state INTEGER NOT NULL,
    fault INTEGER,
    reason TEXT NOT NULL,
    added INTEGER NOT NULL,
    seconds REAL NOT NULL,
    tests INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    said TEXT NOT NULL,
    log_bytes INTEGER NOT NULL,
    samples TEXT
);
CREATE INDEX farm_build_project ON farm_build (project, id);
CREATE INDEX farm_build_version ON farm_build (version, id);
CREATE INDEX farm_build_target ON farm_build (target, id);
CREATE INDEX farm_build_node ON farm_build (node, id);
CREATE UNIQUE INDEX farm_build_job ON farm_build (job) WHERE counts;

-- The last build of each version on each target (of its tests or, if there is none, of its
-- benchmarks), and the results of the last benchmarks.
CREATE TABLE farm_cell (
    version INTEGER NOT NULL REFERENCES farm_version (id),
    target INTEGER NOT NULL REFERENCES farm_target (id),
    build INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    builds INTEGER NOT NULL,
    passed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    base INTEGER,
    comparisons TEXT,
    PRIMARY KEY (version, target)
) WITHOUT ROWID;

-- One row: all builds by state.
CREATE TABLE farm_total (
    id INTEGER PRIMARY KEY,
    n0 INTEGER NOT NULL, n1 INTEGER NOT NULL, n2 INTEGER NOT NULL, n3 INTEGER NOT NULL,
    n4 INTEGER NOT NULL, n5 INTEGER NOT NULL, n6 INTEGER NOT NULL, n7 INTEGER NOT NULL
);
INSERT INTO farm_total (id, n0, n1, n2, n3, n4, n5, n6, n7) VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0);

CREATE TABLE farm_token (
    id INTEGER PRIMARY KEY,
    said TEXT NOT NULL,
    hash BLOB NOT NULL,
    made INTEGER NOT NULL,
    until INTEGER,
    used INTEGER,
    is_gone BOOLEAN NOT NULL
);

CREATE TABLE farm_audit (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    status INTEGER NOT NULL
);
