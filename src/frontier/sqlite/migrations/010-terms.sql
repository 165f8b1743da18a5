-- 010-terms: the current term of a site, and tasks that were granted ahead of their turn.
-- The number of the site's last term. Only the term with this number can be returned.
ALTER TABLE sites ADD COLUMN term INTEGER NOT NULL DEFAULT 0;
-- The worker that holds the term. Null: the term was returned.
ALTER TABLE sites ADD COLUMN term_worker TEXT;
ALTER TABLE sites ADD COLUMN term_ends_at REAL NOT NULL DEFAULT 0;
-- 1: the lease of the task is not counted in `crashes`.
ALTER TABLE tasks ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;
-- 1: the site has a rate, so its tasks come with a term. The `maxNow` of a lease call does not limit these tasks.
ALTER TABLE turns ADD COLUMN paced INTEGER NOT NULL DEFAULT 0;
DROP INDEX turns_due;
CREATE INDEX turns_due ON turns (queue, rank, paced, due_at, served);
UPDATE turns SET paced = (SELECT interval_ms > 0 FROM sites WHERE n = turns.site);
