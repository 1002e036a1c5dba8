-- Times are milliseconds since the Unix epoch. Large columns stand last, so that reading the others stays cheap.
CREATE TABLE job (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  caller TEXT NOT NULL,
  key BLOB NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'partial', 'failed', 'cancelled')),
  error TEXT,
  targets_total INTEGER NOT NULL CHECK (targets_total > 0),
  targets_done INTEGER NOT NULL DEFAULT 0 CHECK (targets_done BETWEEN 0 AND targets_total),
  targets_failed INTEGER NOT NULL DEFAULT 0 CHECK (targets_failed BETWEEN 0 AND targets_done),
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  expires_at INTEGER NOT NULL,
  CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
) STRICT;

-- Live is one predicate everywhere: finished_at IS NULL.
CREATE INDEX job_live ON job (caller) WHERE finished_at IS NULL;
CREATE INDEX job_expired ON job (expires_at) WHERE finished_at IS NOT NULL;
CREATE INDEX job_key ON job (key);
CREATE INDEX job_caller ON job (caller, id);

CREATE TABLE target (
  job INTEGER NOT NULL REFERENCES job (n) ON DELETE CASCADE,
  idx INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'done', 'failed')),
  custom_id TEXT,
  options TEXT NOT NULL,
  url TEXT NOT NULL,
  outcome TEXT,
  PRIMARY KEY (job, idx),
  CHECK ((outcome IS NULL) = (status = 'pending'))
) STRICT;

-- One row that the readiness probe writes and reads back.
CREATE TABLE probe (one INTEGER PRIMARY KEY CHECK (one = 1), writes INTEGER NOT NULL) STRICT;
INSERT INTO probe VALUES (1, 0);
