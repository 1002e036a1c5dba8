-- Whom to tell that a job has ended. `due_at` is the next attempt: none before the end of the job and after the last one.
CREATE TABLE webhook (
  job INTEGER PRIMARY KEY REFERENCES job (n) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  due_at INTEGER,
  last_error TEXT,
  url TEXT NOT NULL,
  CHECK (due_at IS NULL OR state = 'pending'),
  CHECK (attempts = 0 OR (due_at IS NULL) = (state <> 'pending'))
) STRICT;

CREATE INDEX webhook_due ON webhook (due_at) WHERE due_at IS NOT NULL;
