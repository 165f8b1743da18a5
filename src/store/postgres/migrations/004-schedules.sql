-- 004-schedules: schedules and their occurrences (table `slots`).

CREATE TABLE schedules (
  id            text COLLATE "C" PRIMARY KEY,
  tenant        text COLLATE "C",
  name          text    NOT NULL,
  timing        text    NOT NULL, -- JSON
  overlap       text    NOT NULL CHECK (overlap IN ('skip', 'queue', 'replace')),
  catch_up      text    NOT NULL CHECK (catch_up IN ('skip', 'one', 'all')),
  catch_up_most integer NOT NULL,
  job           text    NOT NULL, -- JSON, as submitted
  paused        integer NOT NULL,
  created_at    bigint  NOT NULL, -- epoch ms, like all instants here
  done_until    bigint  NOT NULL, -- occurrences up to here have been added
  next_at       bigint,
  version       bigint  NOT NULL
);

CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedules_of_tenant ON schedules (tenant, id);

CREATE TABLE slots (
  schedule text COLLATE "C" NOT NULL,
  at       bigint NOT NULL,
  kind     text COLLATE "C" NOT NULL CHECK (kind IN ('timed', 'manual')),
  state    text   NOT NULL CHECK (state IN ('waiting', 'firing', 'fired', 'skipped', 'failed')),
  free_at  bigint NOT NULL, -- claimed or delayed until then
  token    bigint NOT NULL, -- increases with every claim
  because  text,
  job_id   text,
  ended_at bigint,
  PRIMARY KEY (schedule, at, kind)
);

CREATE INDEX slots_open ON slots (schedule, at, kind) WHERE state IN ('waiting', 'firing');
CREATE INDEX slots_free ON slots (free_at) WHERE state IN ('waiting', 'firing');
