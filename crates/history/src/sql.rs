//! Every statement that the store runs. Another database would get the same functions and statements of its own here; so nothing but
//! what all SQL has is used where there is a choice.

/// The store as it grew, a version each.
pub(crate) const MIGRATIONS: [&str; 2] =
    [include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql")];

pub(crate) const PROJECT: &str = "SELECT id FROM project WHERE name = ?1";
pub(crate) const ADD_PROJECT: &str = "INSERT INTO project (name) VALUES (?1)";
pub(crate) const PROJECTS: &str = "SELECT name FROM project ORDER BY name";

pub(crate) const MACHINE: &str = "SELECT id FROM machine WHERE fingerprint = ?1";
pub(crate) const ADD_MACHINE: &str = "INSERT INTO machine (fingerprint, name) VALUES (?1, ?2)";

pub(crate) const REVISION: &str =
    "SELECT id, ordinal FROM revision WHERE project = ?1 AND commit_name = ?2";
pub(crate) const ADD_REVISION: &str = "INSERT INTO revision (project, commit_name, parent, ordinal, committed) \
     VALUES (?1, ?2, ?3, ?4, ?5)";
/// What was not known of a revision when it was first met.
pub(crate) const PLACE_REVISION: &str =
    "UPDATE revision SET parent = ?2, ordinal = ?3, committed = ?4 WHERE id = ?1";

pub(crate) const METRIC: &str =
    "SELECT id FROM metric WHERE name = ?1 AND unit = ?2 AND better = ?3 AND exact = ?4";
pub(crate) const ADD_METRIC: &str =
    "INSERT INTO metric (name, unit, better, exact) VALUES (?1, ?2, ?3, ?4)";

pub(crate) const BENCHMARK: &str =
    "SELECT id FROM benchmark WHERE project = ?1 AND name = ?2 AND parameters = ?3 AND role = ?4";
pub(crate) const ADD_BENCHMARK: &str =
    "INSERT INTO benchmark (project, name, parameters, role) VALUES (?1, ?2, ?3, ?4)";
/// Names of benchmarks as they are called now.
pub(crate) const BENCHMARKS: &str = "SELECT DISTINCT coalesce(a.new, b.name) AS name FROM benchmark b \
     LEFT JOIN alias a ON a.project = b.project AND a.old = b.name WHERE b.project = ?1 ORDER BY 1";
/// All benchmarks that go by a name now.
pub(crate) const NAMED: &str = "SELECT id, parameters, role FROM benchmark WHERE project = ?1 \
     AND (name = ?2 AND name NOT IN (SELECT old FROM alias WHERE project = ?1) \
          OR name IN (SELECT old FROM alias WHERE project = ?1 AND new = ?2)) ORDER BY id";

pub(crate) const ALIASES: &str = "SELECT old, new FROM alias WHERE project = ?1 ORDER BY old";
pub(crate) const SET_ALIAS: &str = "INSERT INTO alias (project, old, new) VALUES (?1, ?2, ?3) \
     ON CONFLICT (project, old) DO UPDATE SET new = excluded.new";
/// What led to the old name leads to the new one.
pub(crate) const MOVE_ALIASES: &str = "UPDATE alias SET new = ?3 WHERE project = ?1 AND new = ?2";
pub(crate) const REMOVE_ALIAS: &str = "DELETE FROM alias WHERE project = ?1 AND old = ?2";

pub(crate) const KNOWN_RECORDING: &str =
    "SELECT id FROM recording WHERE project = ?1 AND digest = ?2";
pub(crate) const ADD_RECORDING: &str = "INSERT INTO recording (project, machine, revision, digest, started, added, \
     changed, source, argv, tool, results, metric, verdict) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
pub(crate) const ADD_SAMPLES: &str =
    "INSERT INTO samples (recording, bytes, deflated) VALUES (?1, ?2, ?3)";
pub(crate) const ADD_RESULT: &str = "INSERT INTO result (benchmark, metric, machine, started, recording, place, \
     revision, n, units, centre, lower, upper) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
pub(crate) const ADD_COMPARISON: &str = "INSERT INTO comparison (recording, place, subject, reference, metric, verdict, \
     ratio, lower, upper) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
pub(crate) const ADD_FINDING: &str =
    "INSERT INTO finding (recording, place, code, severity, message) VALUES (?1, ?2, ?3, ?4, ?5)";
pub(crate) const ADD_STATE: &str =
    "INSERT INTO machine_state (recording, name, value) VALUES (?1, ?2, ?3)";
pub(crate) const REMOVE_RECORDING: &str = "DELETE FROM recording WHERE id = ?1";

/// The columns that [`crate::query`] reads a recording from.
pub(crate) const RECORDING: &str = "SELECT r.id, r.digest, r.started, r.changed, r.source, r.argv, r.tool, r.results, r.verdict, \
     m.name, m.fingerprint, v.commit_name, v.parent, v.ordinal, v.committed, x.name FROM recording r \
     JOIN machine m ON m.id = r.machine LEFT JOIN revision v ON v.id = r.revision \
     LEFT JOIN metric x ON x.id = r.metric ";
pub(crate) const LATEST: &str = "WHERE r.project = ?1 ORDER BY r.started DESC, r.id DESC LIMIT ?2";
pub(crate) const BY_DIGEST: &str =
    "WHERE r.project = ?1 AND r.digest >= ?2 AND r.digest < ?3 ORDER BY r.digest LIMIT 100";
pub(crate) const BY_ID: &str = "WHERE r.id = ?1";
pub(crate) const HOW_MANY: &str = "SELECT count(*) FROM recording WHERE project = ?1";

pub(crate) const SAMPLES: &str = "SELECT bytes, deflated FROM samples WHERE recording = ?1";
pub(crate) const RESULTS: &str = "SELECT coalesce(a.new, b.name), b.parameters, b.role, x.name, x.unit, x.better, x.exact, \
     s.n, s.units, s.centre, s.lower, s.upper FROM result s JOIN benchmark b ON b.id = s.benchmark \
     JOIN metric x ON x.id = s.metric LEFT JOIN alias a ON a.project = b.project AND a.old = b.name \
     WHERE s.recording = ?1 ORDER BY s.place";
pub(crate) const COMPARISONS: &str = "SELECT subject, reference, verdict, ratio, lower, upper FROM comparison \
     WHERE recording = ?1 ORDER BY place";
pub(crate) const FINDINGS: &str =
    "SELECT code, severity, message FROM finding WHERE recording = ?1 ORDER BY place";

/// The metrics and machines that a benchmark has results of, with how many, and when the last was measured.
pub(crate) const KINDS: &str = "SELECT s.metric, x.name, x.unit, x.better, x.exact, s.machine, m.name, m.fingerprint, \
     max(s.started) FROM result s JOIN metric x ON x.id = s.metric JOIN machine m ON m.id = s.machine \
     WHERE s.benchmark = ?1 GROUP BY s.metric, s.machine";
/// One range of the tree, the latest first.
pub(crate) const SERIES: &str = "SELECT r.digest, s.started, v.commit_name, v.parent, v.ordinal, v.committed, s.n, s.units, \
     s.centre, s.lower, s.upper FROM result s JOIN recording r ON r.id = s.recording \
     LEFT JOIN revision v ON v.id = s.revision \
     WHERE s.benchmark = ?1 AND s.metric = ?2 AND s.machine = ?3 ORDER BY s.started DESC, s.recording DESC LIMIT ?4";

/// The last recording of a benchmark on any machine.
pub(crate) const LAST_OF: &str = "SELECT started, recording FROM result WHERE benchmark = ?1 ORDER BY started DESC, recording DESC LIMIT 1";
/// The benchmarks of a recording.
pub(crate) const SUITE: &str = "SELECT DISTINCT benchmark FROM result WHERE recording = ?1";
/// Recordings of a machine and project that came after another one, the latest first.
pub(crate) const LATER: &str = "SELECT l.id FROM recording r JOIN recording l ON l.project = r.project AND l.machine = r.machine \
     AND (l.started, l.id) > (r.started, r.id) WHERE r.id = ?1 ORDER BY l.started DESC, l.id DESC LIMIT ?2";

/// What changes with every run that is added or removed.
pub(crate) const STAMP: &str = "SELECT count(*), coalesce(max(id), 0), coalesce(max(added), 0) FROM recording WHERE project = ?1";
/// The columns of [`RECORDING`], once for each revision that a run measured.
pub(crate) const MEASURED: &str = "SELECT r.id, r.digest, r.started, r.changed, r.source, r.argv, r.tool, r.results, r.verdict, \
     m.name, m.fingerprint, v.commit_name, v.parent, v.ordinal, v.committed, x.name \
     FROM (SELECT DISTINCT s.recording, s.revision FROM result s) d \
     JOIN recording r ON r.id = d.recording JOIN machine m ON m.id = r.machine \
     LEFT JOIN revision v ON v.id = d.revision LEFT JOIN metric x ON x.id = r.metric \
     WHERE r.project = ?1 ORDER BY r.id, v.id";
/// Results of a run, with the revision of each.
pub(crate) const RESULTS_OF: &str = "SELECT coalesce(a.new, b.name), b.parameters, b.role, x.name, x.unit, x.better, x.exact, \
     s.n, s.units, s.centre, s.lower, s.upper, v.commit_name FROM result s JOIN benchmark b ON b.id = s.benchmark \
     JOIN metric x ON x.id = s.metric LEFT JOIN alias a ON a.project = b.project AND a.old = b.name \
     LEFT JOIN revision v ON v.id = s.revision WHERE s.recording = ?1";
pub(crate) const METRICS: &str = "SELECT name, unit, better, exact FROM metric ORDER BY id";
/// Benchmarks as they are called now.
pub(crate) const CATALOGUE: &str = "SELECT DISTINCT coalesce(a.new, b.name) AS name, b.parameters, b.role FROM benchmark b \
     LEFT JOIN alias a ON a.project = b.project AND a.old = b.name WHERE b.project = ?1 ORDER BY 1, 2, 3";
pub(crate) const MACHINE_STATES: &str = "SELECT t.recording, t.name, t.value FROM machine_state t \
     JOIN recording r ON r.id = t.recording WHERE r.project = ?1 ORDER BY t.recording, t.name";

/// The last recording that has an id at all, for saving what can be read of a damaged store.
pub(crate) const HIGHEST: [&str; 2] =
    ["SELECT max(recording) FROM samples", "SELECT max(id) FROM recording"];
pub(crate) const DIGEST_OF: &str = "SELECT digest FROM recording WHERE id = ?1";
