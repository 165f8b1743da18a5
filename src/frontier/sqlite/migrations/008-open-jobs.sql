-- 008-open-jobs: jobs that have not ended, found without those that have.
CREATE INDEX jobs_open ON jobs (created_at) WHERE finished_at IS NULL;
