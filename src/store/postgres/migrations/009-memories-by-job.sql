-- 009-memories-by-job: what recrawl sets remember of a job's pages goes when the job is deleted.
CREATE INDEX page_memories_by_job ON page_memories (job);
