-- 010-memories-by-job: an index to find the page memories of a deleted job.
CREATE INDEX page_memories_by_job ON page_memories (job);
