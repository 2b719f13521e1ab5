-- Version 2: numbers that a run recorded about the state of its machine, and what tells which revisions a run measured without reading its results.

CREATE TABLE machine_state (
    recording INTEGER NOT NULL REFERENCES recording (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (recording, name)
) WITHOUT ROWID;

DROP INDEX result_by_recording;
CREATE INDEX result_by_recording ON result (recording, revision);
