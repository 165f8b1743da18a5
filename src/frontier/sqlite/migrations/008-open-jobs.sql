-- 008-open-jobs: an index of jobs that have not ended.
CREATE INDEX jobs_open ON jobs (created_at) WHERE finished_at IS NULL;
