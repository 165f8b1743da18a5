-- 006-schedules: schedules and their occurrences (table `slots`).

CREATE TABLE schedules (
  id             TEXT    PRIMARY KEY,
  tenant         TEXT,
  name           TEXT    NOT NULL,
  timing         TEXT    NOT NULL, -- JSON
  overlap        TEXT    NOT NULL CHECK (overlap IN ('skip', 'queue', 'replace')),
  catch_up       TEXT    NOT NULL CHECK (catch_up IN ('skip', 'one', 'all')),
  catch_up_most  INTEGER NOT NULL,
  job            TEXT    NOT NULL, -- JSON, as submitted
  paused         INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  done_until     INTEGER NOT NULL, -- occurrences up to here have been added
  next_at        INTEGER,
  version        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedules_of_tenant ON schedules (tenant, id);

CREATE TABLE slots (
  schedule  TEXT    NOT NULL REFERENCES schedules (id),
  at        INTEGER NOT NULL,
  kind      TEXT    NOT NULL CHECK (kind IN ('timed', 'manual')),
  state     TEXT    NOT NULL CHECK (state IN ('waiting', 'firing', 'fired', 'skipped', 'failed')),
  free_at   INTEGER NOT NULL, -- claimed or delayed until then
  token     INTEGER NOT NULL, -- increases with every claim
  because   TEXT,
  job_id    TEXT,
  ended_at  INTEGER,
  PRIMARY KEY (schedule, at, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX slots_open ON slots (schedule, at, kind) WHERE state IN ('waiting', 'firing');
CREATE INDEX slots_free ON slots (free_at) WHERE state IN ('waiting', 'firing');
