//! All SQL statements of a farm, in the dialect common to SQLite and PostgreSQL. The only
//! difference is in the locking of rows: see [`locking`] and [`passing`].

use assay_history::db::Db;

/// The migrations of the farm's tables. The index of a migration plus 1 is the version it leads to.
pub(crate) const MIGRATIONS: [&str; 2] =
    [include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql")];

pub(crate) const FILE_HAS_SCHEMA: &str =
    "SELECT count(*) FROM sqlite_master WHERE name = 'farm_schema'";
pub(crate) const SERVER_HAS_SCHEMA: &str = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = 'assay' AND c.relname = 'farm_schema'";
pub(crate) const NEW_SCHEMA: &str = "CREATE TABLE farm_schema (number INTEGER NOT NULL); INSERT INTO farm_schema (number) VALUES (0)";
pub(crate) const SCHEMA: &str = "SELECT number FROM farm_schema";
pub(crate) const SET_SCHEMA: &str = "UPDATE farm_schema SET number = ?1";

/// Makes a `SELECT` lock its rows against changes by others until the transaction ends. SQLite
/// needs no such lock, because it has only one writer at a time.
pub(crate) fn locking(db: &Db, statement: &str) -> String {
    format!("{statement}{}", if db.is_server() { " FOR UPDATE" } else { "" })
}

/// Makes a `SELECT` lock its rows as by [`locking`], and skip rows that are locked by others.
pub(crate) fn passing(db: &Db, statement: &str) -> String {
    format!("{statement}{}", if db.is_server() { " FOR UPDATE SKIP LOCKED" } else { "" })
}

pub(crate) const OWNER: &str = "SELECT id, name FROM farm_owner WHERE name = ?1";
pub(crate) const OWNER_ID: &str = "SELECT id FROM farm_owner WHERE name = ?1";
pub(crate) const OWNERS: &str =
    "SELECT id, name FROM farm_owner WHERE name > ?1 ORDER BY name LIMIT ?2";
pub(crate) const ADD_OWNER: &str =
    "INSERT INTO farm_owner (name) VALUES (?1) ON CONFLICT DO NOTHING";

pub(crate) const PROJECT: &str = "SELECT p.id, o.name, p.name, p.said FROM farm_owner o \
     JOIN farm_project p ON p.owner = o.id WHERE o.name = ?1 AND p.name = ?2";
pub(crate) const PROJECT_ID: &str = "SELECT p.id FROM farm_owner o \
     JOIN farm_project p ON p.owner = o.id WHERE o.name = ?1 AND p.name = ?2";
pub(crate) const PROJECT_OF: &str = "SELECT p.id, o.name, p.name, p.said FROM farm_project p \
     JOIN farm_owner o ON o.id = p.owner WHERE p.id = ?1";
pub(crate) const PROJECTS: &str = "SELECT p.id, o.name, p.name, p.said FROM farm_project p \
     JOIN farm_owner o ON o.id = p.owner WHERE p.owner = ?1 AND p.name > ?2 ORDER BY p.name LIMIT ?3";
pub(crate) const ALL_PROJECTS: &str = "SELECT p.id, o.name, p.name, p.said FROM farm_project p \
     JOIN farm_owner o ON o.id = p.owner ORDER BY p.id";
pub(crate) const ADD_PROJECT: &str = "INSERT INTO farm_project (owner, name, said, newest, last_build, n0, n1, n2, n3, n4, n5, n6, n7) \
     VALUES (?1, ?2, ?3, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING";
pub(crate) const CHANGE_PROJECT: &str =
    "UPDATE farm_project SET said = ?3 WHERE owner = ?1 AND name = ?2";

pub(crate) const VERSION: &str = "SELECT v.id, o.name, p.name, v.name, v.is_gone, v.said FROM farm_owner o \
     JOIN farm_project p ON p.owner = o.id JOIN farm_version v ON v.project = p.id \
     WHERE o.name = ?1 AND p.name = ?2 AND v.name = ?3";
pub(crate) const VERSION_ID: &str = "SELECT v.id FROM farm_owner o \
     JOIN farm_project p ON p.owner = o.id JOIN farm_version v ON v.project = p.id \
     WHERE o.name = ?1 AND p.name = ?2 AND v.name = ?3";
pub(crate) const VERSION_OF: &str = "SELECT v.id, o.name, p.name, v.name, v.is_gone, v.said FROM farm_version v \
     JOIN farm_project p ON p.id = v.project JOIN farm_owner o ON o.id = p.owner WHERE v.id = ?1";
pub(crate) const VERSIONS: &str = "SELECT v.id, o.name, p.name, v.name, v.is_gone, v.said, v.place FROM farm_version v \
     JOIN farm_project p ON p.id = v.project JOIN farm_owner o ON o.id = p.owner \
     WHERE v.project = ?1 AND (v.place, v.id) < (?2, ?3) ORDER BY v.place DESC, v.id DESC LIMIT ?4";
pub(crate) const ADD_VERSION: &str = "INSERT INTO farm_version (project, name, place, added, is_gone, said, n0, n1, n2, n3, n4, n5, n6, n7) \
     VALUES (?1, ?2, ?3, ?4, FALSE, ?5, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING";
pub(crate) const VERSION_IS_THERE: &str =
    "UPDATE farm_version SET is_gone = FALSE WHERE project = ?1 AND name = ?2";
pub(crate) const VERSION_IS_GONE: &str = "UPDATE farm_version SET is_gone = TRUE WHERE id = ?1";
pub(crate) const VERSION_PLACE: &str = "SELECT place FROM farm_version WHERE id = ?1";
/// Finds the newest version of a project that precedes the given version and still exists at its
/// origin. It is the base of a benchmark.
pub(crate) const VERSION_BEFORE: &str = "SELECT b.id FROM farm_version v JOIN farm_version b ON b.project = v.project \
     AND (b.place, b.id) < (v.place, v.id) WHERE v.project = ?1 AND v.id = ?2 AND NOT b.is_gone \
     ORDER BY b.place DESC, b.id DESC LIMIT 1";
pub(crate) const NEWEST_VERSION: &str = "SELECT id FROM farm_version WHERE project = ?1 AND NOT is_gone \
     ORDER BY place DESC, id DESC LIMIT 1";
pub(crate) const NEWEST_VERSIONS: &str = "SELECT id FROM farm_version WHERE project = ?1 AND NOT is_gone \
     ORDER BY place DESC, id DESC LIMIT ?2";
/// Finds the versions of a project that have neither results nor jobs, because no target met the
/// project's needs.
pub(crate) const WAITING_VERSIONS: &str = "SELECT v.id FROM farm_version v WHERE v.project = ?1 AND NOT v.is_gone \
     AND v.n0 + v.n1 + v.n2 + v.n3 + v.n4 + v.n5 + v.n6 + v.n7 = 0 AND NOT EXISTS (SELECT 1 FROM farm_job j \
     WHERE j.project = v.project AND j.version = v.id AND j.progress IN (0, 1, 4)) ORDER BY v.place, v.id";
pub(crate) const VERSION_PLACES: &str = "SELECT name, place FROM farm_version WHERE project = ?1";
/// Cancels the jobs of a version that are not leased, because the version can no longer be fetched.
pub(crate) const CANCEL_VERSION: &str = "UPDATE farm_job SET progress = 3, due = NULL \
     WHERE project = (SELECT project FROM farm_version WHERE id = ?1) AND version = ?1 AND progress IN (0, 1, 4) AND progress <> 1";

pub(crate) const TARGET: &str = "SELECT id, digest, name, facts FROM farm_target WHERE digest = ?1";
pub(crate) const TARGET_ID: &str = "SELECT id FROM farm_target WHERE digest = ?1";
pub(crate) const TARGET_OF: &str = "SELECT id, digest, name, facts FROM farm_target WHERE id = ?1";
pub(crate) const TARGETS: &str =
    "SELECT id, digest, name, facts FROM farm_target WHERE id > ?1 ORDER BY id LIMIT ?2";
pub(crate) const ALL_TARGETS: &str = "SELECT id, digest, facts FROM farm_target ORDER BY id";
pub(crate) const ADD_TARGET: &str =
    "INSERT INTO farm_target (digest, name, facts) VALUES (?1, ?2, ?3) RETURNING id";

pub(crate) const DEMAND: &str = "SELECT id FROM farm_demand WHERE digest = ?1";
pub(crate) const ADD_DEMAND: &str = "INSERT INTO farm_demand (digest, target, facts) VALUES (?1, ?2, ?3) \
     ON CONFLICT DO NOTHING RETURNING id";
pub(crate) const DEMANDS_OF_FACTS: &str = "SELECT id, facts FROM farm_demand WHERE target IS NULL";
pub(crate) const ADD_FIT: &str =
    "INSERT INTO farm_fit (target, demand) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
pub(crate) const FITS: &str = "SELECT f.demand, t.id FROM farm_target t \
     JOIN farm_fit f ON f.target = t.id WHERE t.digest = ?1";

/// Selects the columns of a job, with the names of the things that it refers to. A condition is
/// appended.
pub(crate) const JOB: &str = "SELECT j.id, o.name, p.name, v.name, j.kind, b.name, t.digest, d.facts, j.urgency, j.round, \
     j.progress, j.attempts, n.name, j.build FROM farm_job j JOIN farm_project p ON p.id = j.project \
     JOIN farm_owner o ON o.id = p.owner JOIN farm_version v ON v.id = j.version JOIN farm_demand d ON d.id = j.demand \
     LEFT JOIN farm_version b ON b.id = j.base LEFT JOIN farm_target t ON t.id = d.target \
     LEFT JOIN farm_node n ON n.id = j.node ";
pub(crate) const JOB_OF: &str = "WHERE j.id = ?1";
pub(crate) const LIVE_JOBS: &str =
    "WHERE j.progress IN (0, 1, 4) AND j.id > ?1 ORDER BY j.id LIMIT ?2";
pub(crate) const QUEUED_JOBS: &str =
    "WHERE j.progress = 0 AND (j.urgency, j.id) > (?1, ?2) ORDER BY j.urgency, j.id LIMIT ?3";
pub(crate) const JOBS_OF_PROJECT: &str =
    "WHERE j.project = ?1 AND j.progress IN (0, 1, 4) ORDER BY j.id DESC LIMIT ?2";
pub(crate) const ADD_JOB: &str = "INSERT INTO farm_job (asked, project, version, base, kind, demand, urgency, round, added, \
     progress, attempts, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, 0, 0) ON CONFLICT DO NOTHING RETURNING id";
pub(crate) const LIVE_JOB: &str =
    "SELECT id FROM farm_job WHERE asked = ?1 AND progress IN (0, 1, 4)";
pub(crate) const PROGRESS: &str = "SELECT progress FROM farm_job WHERE id = ?1";
/// Cancels a job. The job keeps its nonce, so that the node that runs it is notified in the answer
/// to its next heartbeat.
pub(crate) const CANCEL: &str = "UPDATE farm_job SET progress = 3, due = NULL WHERE id = ?1";
pub(crate) const HELD: &str = "SELECT j.id, j.project, j.version, j.base, j.kind, j.urgency, j.round, j.progress, j.retries, j.lease, \
     (SELECT n.name FROM farm_node n WHERE n.id = j.node), j.target, j.nonce, j.until FROM farm_job j WHERE j.id = ?1";

/// Finds the most urgent queued job of a given demand and kind.
pub(crate) const NEXT: &str = "SELECT id, urgency FROM farm_job WHERE progress = 0 AND demand = ?1 AND kind = ?2 \
     ORDER BY urgency, id LIMIT 1";
pub(crate) const ONE_QUEUED: &str =
    "SELECT demand, kind, urgency FROM farm_job WHERE id = ?1 AND progress = 0";
pub(crate) const LEASE: &str = "UPDATE farm_job SET progress = 1, attempts = attempts + 1, lease = ?2, node = ?3, target = ?4, \
     nonce = ?5, until = ?6, due = NULL WHERE id = ?1 AND progress = 0";
pub(crate) const ADD_LEASE: &str = "INSERT INTO farm_lease (job, node, target, nonce, began) \
     VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id";
pub(crate) const PROLONG: &str = "UPDATE farm_job SET until = ?2 WHERE id = ?1 AND progress = 1";
pub(crate) const EXPIRED: &str =
    "SELECT id FROM farm_job WHERE progress = 1 AND until < ?1 ORDER BY until LIMIT ?2";
pub(crate) const QUEUE_AGAIN: &str = "UPDATE farm_job SET progress = 0, retries = retries + 1, nonce = NULL, until = NULL \
     WHERE id = ?1 AND progress = 1";
pub(crate) const WAIT: &str = "UPDATE farm_job SET progress = 4, retries = retries + 1, nonce = NULL, until = NULL, due = ?2 \
     WHERE id = ?1 AND progress = 1";
pub(crate) const ANY_DUE: &str = "SELECT id FROM farm_job WHERE progress = 4 AND due <= ?1 LIMIT 1";
pub(crate) const WAKE: &str =
    "UPDATE farm_job SET progress = 0, due = NULL WHERE progress = 4 AND due <= ?1";
pub(crate) const END: &str = "UPDATE farm_job SET progress = 2, build = ?2, nonce = NULL, until = NULL WHERE id = ?1 AND progress = 1";
pub(crate) const END_LEASES: &str =
    "UPDATE farm_lease SET ended = ?2, how = ?3 WHERE job = ?1 AND ended IS NULL";
pub(crate) const LEASES_OF_NODE: &str = "SELECT l.id, l.nonce, l.target FROM farm_lease l JOIN farm_node n ON n.id = l.node \
     WHERE l.job = ?1 AND n.name = ?2";
pub(crate) const LEASES: &str = "SELECT l.id, n.name, l.began, l.ended, l.how FROM farm_lease l \
     JOIN farm_node n ON n.id = l.node WHERE l.job = ?1 ORDER BY l.id";
pub(crate) const LAST_LEASE: &str = "SELECT lease, progress FROM farm_job WHERE id = ?1";
pub(crate) const LEASE_SAMPLES: &str = "UPDATE farm_lease SET samples = ?2 WHERE id = ?1";
pub(crate) const SAMPLES_OF_LEASE: &str = "SELECT samples FROM farm_lease WHERE id = ?1";
pub(crate) const QUEUE_LENGTH: &str =
    "SELECT count(*) FROM (SELECT id FROM farm_job WHERE progress = 0 LIMIT ?1) x";
pub(crate) const LEASE_COUNT: &str =
    "SELECT count(*) FROM (SELECT id FROM farm_job WHERE progress = 1 LIMIT ?1) x";

pub(crate) const ADD_BUILD: &str = "INSERT INTO farm_build (handed, project, version, target, node, job, lease, base, kind, counts, state, \
     fault, reason, added, seconds, tests, failed, said, log_bytes, samples) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) RETURNING id";
pub(crate) const BUILD_OF_KEY: &str =
    "SELECT id, said, job, node FROM farm_build WHERE handed = ?1";
pub(crate) const BUILD_LOG: &str = "UPDATE farm_build SET log_bytes = ?2 WHERE id = ?1";
pub(crate) const BUILD_SAMPLES: &str = "UPDATE farm_build SET samples = ?2 WHERE id = ?1";
pub(crate) const LEASE_OF_BUILD: &str = "SELECT lease FROM farm_build WHERE id = ?1";
pub(crate) const SAMPLES_OF_BUILD: &str = "SELECT o.name, p.name, b.samples FROM farm_build b \
     JOIN farm_project p ON p.id = b.project JOIN farm_owner o ON o.id = p.owner WHERE b.id = ?1";
pub(crate) const PLACE_OF_BUILD: &str =
    "SELECT version, target, base FROM farm_build WHERE id = ?1";

/// Expands to the columns of a build's summary.
macro_rules! line_columns {
    () => {
        "b.id, o.name, p.name, v.name, t.digest, t.name, b.node, b.kind, b.state, b.fault, b.reason, b.added, b.seconds, \
         b.tests, b.failed, b.counts"
    };
}
/// Columns of a whole build.
const WHOLE: &str = "b.id, b.handed, b.job, b.added, b.log_bytes, o.name, p.name, v.name, t.digest, b.node, b.samples, b.counts, b.said";
const LINE_OF: &str = "JOIN farm_project p ON p.id = b.project JOIN farm_owner o ON o.id = p.owner \
     JOIN farm_version v ON v.id = b.version JOIN farm_target t ON t.id = b.target";
/// Condition that selects all builds. It mentions `?1` only because PostgreSQL cannot infer the
/// type of an unused parameter.
pub(crate) const ALONG_ALL: &str = "CAST(?1 AS INTEGER) = 0";
/// Condition that selects the builds of a project.
pub(crate) const ALONG_PROJECT: &str = "project = ?1";
/// Condition that selects the builds of a version.
pub(crate) const ALONG_VERSION: &str = "version = ?1";
/// Condition that selects the builds on a target.
pub(crate) const ALONG_TARGET: &str = "target = ?1";
/// Condition that selects the builds of a node.
pub(crate) const ALONG_NODE: &str = "node = ?1";
/// Further condition that selects builds by state. `@` is replaced by a parameter.
pub(crate) const IN_STATE: &str = "x.state = @";
/// Further condition that selects builds by target. `@` is replaced by a parameter.
pub(crate) const ON_TARGET: &str = "x.target = @";
/// Further condition that selects builds by the owner of the project. `@` is replaced by a
/// parameter.
pub(crate) const OF_OWNER: &str =
    "x.project IN (SELECT w.id FROM farm_project w WHERE w.owner = @)";

/// Returns a subquery for the latest builds with the condition `along` and an id below `?2`, at
/// most `?3` of them.
fn looked(along: &str) -> String {
    format!(
        "(SELECT id, state, target, project FROM farm_build WHERE {along} AND id < ?2 ORDER BY id DESC LIMIT ?3) x"
    )
}

/// Returns the statement for the lowest id and the number of the rows that a page of builds
/// examines.
pub(crate) fn looked_at(along: &str) -> String {
    format!("SELECT min(x.id), count(*) FROM {}", looked(along))
}

/// Returns the statement for a page of build summaries. It examines at most `?3` builds with an id
/// below `?2`, and returns the first `?4` of these that satisfy all conditions. The values of the
/// conditions are the parameters from `?5` on.
pub(crate) fn lines(along: &str, conditions: &[&str]) -> String {
    found(line_columns!(), along, conditions)
}

/// Returns the statement for a page of whole builds. It has the same parameters as that of
/// [`lines`].
pub(crate) fn builds(along: &str, conditions: &[&str]) -> String {
    found(WHOLE, along, conditions)
}

fn found(columns: &str, along: &str, conditions: &[&str]) -> String {
    let mut left = String::new();
    for (place, condition) in conditions.iter().enumerate() {
        left += if left.is_empty() { " WHERE " } else { " AND " };
        left += &condition.replace('@', &format!("?{}", place + 5));
    }
    format!(
        "SELECT {columns} FROM (SELECT x.id FROM {}{left} ORDER BY x.id DESC LIMIT ?4) y JOIN farm_build b ON b.id = y.id {LINE_OF} \
         ORDER BY b.id DESC",
        looked(along)
    )
}

/// Returns the statement for the summary of one build.
pub(crate) fn line() -> String {
    format!("SELECT {} FROM farm_build b {LINE_OF} WHERE b.id = ?1", line_columns!())
}

/// Returns the statement for one whole build.
pub(crate) fn build() -> String {
    format!("SELECT {WHOLE} FROM farm_build b {LINE_OF} WHERE b.id = ?1")
}

pub(crate) const CELL: &str =
    "SELECT kind, state FROM farm_cell WHERE version = ?1 AND target = ?2";
pub(crate) const ADD_CELL: &str = "INSERT INTO farm_cell (version, target, build, kind, state, builds, passed, failed) \
     VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7)";
pub(crate) const COUNT_CELL: &str = "UPDATE farm_cell SET builds = builds + 1, passed = passed + ?3, failed = failed + ?4 \
     WHERE version = ?1 AND target = ?2";
pub(crate) const CHANGE_CELL: &str =
    "UPDATE farm_cell SET build = ?3, kind = ?4, state = ?5 WHERE version = ?1 AND target = ?2";
pub(crate) const BENCH_CELL: &str =
    "UPDATE farm_cell SET base = ?3, comparisons = ?4 WHERE version = ?1 AND target = ?2";
/// Expands to a subquery for the newest versions of a project below a position.
macro_rules! newest_versions {
    () => {
        "(SELECT id, name FROM farm_version WHERE project = ?1 AND (place, id) < (?2, ?3) ORDER BY place DESC, id DESC LIMIT ?4) v"
    };
}
/// Selects the cells of a project's newest versions. A cell holds the results of a version on a
/// target.
pub(crate) const CELLS: &str = concat!(
    "SELECT v.name, c.target, c.build, c.state, c.builds, c.passed, c.failed, b.name, c.comparisons FROM ",
    newest_versions!(),
    " JOIN farm_cell c ON c.version = v.id LEFT JOIN farm_version b ON b.id = c.base"
);
/// Selects the targets of the cells that [`CELLS`] returns.
pub(crate) const TARGETS_OF_CELLS: &str = concat!(
    "SELECT id, digest, name, facts FROM farm_target WHERE id IN (SELECT c.target FROM ",
    newest_versions!(),
    " JOIN farm_cell c ON c.version = v.id)"
);

macro_rules! summed {
    ($table:literal $(, $also:literal)?) => {
        concat!(
            "UPDATE ",
            $table,
            " SET n0 = n0 + ?2, n1 = n1 + ?3, n2 = n2 + ?4, n3 = n3 + ?5, n4 = n4 + ?6, n5 = n5 + ?7, n6 = n6 + ?8, \
             n7 = n7 + ?9",
            $($also,)?
            " WHERE id = ?1"
        )
    };
}
pub(crate) const SUM_VERSION: &str = summed!("farm_version");
pub(crate) const SUM_PROJECT: &str = summed!("farm_project", ", stamp = stamp + 1");
pub(crate) const SUM_ALL: &str = summed!("farm_total", ", stamp = stamp + 1");
/// Changes the stamp of a project. Needed after changes that update no sum, since updating the sums
/// changes the stamp too.
pub(crate) const STAMP_PROJECT: &str = "UPDATE farm_project SET stamp = stamp + 1 WHERE id = ?1";
/// Changes the stamp of the home page. Needed after changes that update no sum, since updating the
/// sums changes the stamp too.
pub(crate) const STAMP_ALL: &str = "UPDATE farm_total SET stamp = stamp + 1 WHERE id = 1";
pub(crate) const ALL_STAMP: &str = "SELECT stamp FROM farm_total WHERE id = 1";
pub(crate) const PROJECT_STAMP: &str = "SELECT p.id, p.stamp FROM farm_owner o \
     JOIN farm_project p ON p.owner = o.id WHERE o.name = ?1 AND p.name = ?2";
/// Selects the columns that may change while a project's page lists a job, for the jobs of
/// [`JOBS_OF_PROJECT`].
pub(crate) const JOBS_STAMP: &str = "SELECT id, progress, attempts, coalesce(node, 0) FROM farm_job \
     WHERE project = ?1 AND progress IN (0, 1, 4) ORDER BY id DESC LIMIT ?2";
pub(crate) const TOTAL: &str = "SELECT n0, n1, n2, n3, n4, n5, n6, n7 FROM farm_total WHERE id = 1";
pub(crate) const LAST_BUILD: &str =
    "UPDATE farm_project SET last_build = ?2 WHERE id = ?1 AND last_build < ?2";
pub(crate) const NEWEST_TESTED: &str = "SELECT v.place, v.id FROM farm_project p \
     JOIN farm_version v ON v.id = p.newest WHERE p.id = ?1";
pub(crate) const SET_NEWEST: &str = "UPDATE farm_project SET newest = ?2 WHERE id = ?1";
pub(crate) const PROJECT_SUMS: &str =
    "SELECT n0, n1, n2, n3, n4, n5, n6, n7 FROM farm_project WHERE id = ?1";
pub(crate) const VERSION_LINES: &str = "SELECT id, name, place, is_gone, added, n0, n1, n2, n3, n4, n5, n6, n7, said FROM farm_version \
     WHERE project = ?1 AND (place, id) < (?2, ?3) ORDER BY place DESC, id DESC LIMIT ?4";
/// Selects projects, sorted by their last build, latest first. Each has its newest version with
/// results, and its last build.
pub(crate) const PROJECT_LINES: &str = concat!(
    "SELECT p.id, o.name, p.name, p.last_build, p.n0, p.n1, p.n2, p.n3, p.n4, p.n5, p.n6, p.n7, \
     w.id, w.name, w.place, w.is_gone, w.added, w.n0, w.n1, w.n2, w.n3, w.n4, w.n5, w.n6, w.n7, w.said, ",
    line_columns!(),
    " FROM (SELECT id, owner, name, last_build, newest, n0, n1, n2, n3, n4, n5, n6, n7 FROM farm_project \
           WHERE (last_build, id) < (?1, ?2) ORDER BY last_build DESC, id DESC LIMIT ?3) p \
     JOIN farm_owner o ON o.id = p.owner LEFT JOIN farm_version w ON w.id = p.newest \
     LEFT JOIN farm_build b ON b.id = p.last_build LEFT JOIN farm_version v ON v.id = b.version \
     LEFT JOIN farm_target t ON t.id = b.target ORDER BY p.last_build DESC, p.id DESC"
);
pub(crate) const BENCHED: &str = "SELECT b.id, v.name, w.name, t.digest, b.node, b.said FROM farm_build b \
     JOIN farm_version v ON v.id = b.version JOIN farm_version w ON w.id = b.base JOIN farm_target t ON t.id = b.target \
     WHERE b.version = ?1 AND b.kind = 1 AND b.counts AND b.id > ?2 ORDER BY b.id LIMIT ?3";

/// Selects the columns of a node. A condition is appended.
pub(crate) const NODE: &str =
    "SELECT id, name, tool, targets, seen, clock_ahead, drained, calibration FROM farm_node ";
pub(crate) const NODE_OF: &str = "WHERE name = ?1";
pub(crate) const NODES: &str = "WHERE name > ?1 ORDER BY name LIMIT ?2";
pub(crate) const NODE_OWN: &str =
    "SELECT id, drained, instance, calibration FROM farm_node WHERE name = ?1";
pub(crate) const SET_NODE: &str = "INSERT INTO farm_node (name, tool, instance, targets, seen, clock_ahead) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO UPDATE SET tool = excluded.tool, instance = excluded.instance, \
     targets = excluded.targets, seen = excluded.seen, clock_ahead = excluded.clock_ahead";
pub(crate) const SEEN: &str = "UPDATE farm_node SET seen = ?2 WHERE name = ?1 AND seen < ?2";
pub(crate) const DRAIN: &str = "UPDATE farm_node SET drained = ?2 WHERE name = ?1";
pub(crate) const BUSY_WITH: &str = "SELECT kind FROM farm_job WHERE node = ?1 AND progress = 1";
pub(crate) const JOBS_OF_NODE: &str =
    "SELECT id FROM farm_job WHERE node = ?1 AND progress = 1 ORDER BY id";
pub(crate) const ADD_CALIBRATION: &str =
    "INSERT INTO farm_calibration (node, said) VALUES (?1, ?2)";
pub(crate) const LAST_CALIBRATION: &str = "UPDATE farm_node SET calibration = ?2 WHERE id = ?1";
pub(crate) const CALIBRATIONS: &str =
    "SELECT said FROM farm_calibration WHERE node = ?1 ORDER BY id DESC LIMIT ?2";

pub(crate) const TOKEN: &str =
    "SELECT id, said, made, used FROM farm_token WHERE id = ?1 AND NOT is_gone";
pub(crate) const TOKENS: &str = "SELECT id, said, made, used FROM farm_token WHERE id > ?1 AND NOT is_gone ORDER BY id LIMIT ?2";
pub(crate) const ANY_TOKEN: &str = "SELECT id FROM farm_token LIMIT 1";
pub(crate) const TOKEN_SECRET: &str =
    "SELECT id, said, made, used, hash, until FROM farm_token WHERE id = ?1 AND NOT is_gone";
pub(crate) const ADD_TOKEN: &str = "INSERT INTO farm_token (said, hash, made, until, is_gone) \
     VALUES (?1, ?2, ?3, ?4, FALSE) RETURNING id";
pub(crate) const ROTATE_TOKEN: &str =
    "UPDATE farm_token SET hash = ?2 WHERE id = ?1 AND NOT is_gone";
pub(crate) const REMOVE_TOKEN: &str = "UPDATE farm_token SET is_gone = TRUE WHERE id = ?1";
pub(crate) const USED: &str =
    "UPDATE farm_token SET used = ?2 WHERE id = ?1 AND (used IS NULL OR used < ?2)";

pub(crate) const ADD_AUDIT: &str =
    "INSERT INTO farm_audit (time, who, what, status) VALUES (?1, ?2, ?3, ?4)";
pub(crate) const AUDIT: &str =
    "SELECT id, time, who, what, status FROM farm_audit WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
