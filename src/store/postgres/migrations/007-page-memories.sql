-- 007-page-memories: page memory of recrawl sets, and unchanged pages.
--
-- `n` orders the memories of a page. `job` is the id of the job, not its alias.

CREATE TABLE page_memories (
  n             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  set_name      text COLLATE "C" NOT NULL,
  page          text COLLATE "C" NOT NULL, -- hash of its URL
  job           text COLLATE "C" NOT NULL, -- jobs.id
  task          text COLLATE "C" NOT NULL,
  token         bigint           NOT NULL,
  reads         text             NOT NULL,
  etag          text,
  last_modified text,
  fingerprint   text, -- null: the page was gone
  content       text, -- JSON; null if it was too large
  fetched_at    double precision NOT NULL,
  UNIQUE (set_name, page, job)
);

ALTER TABLE pages ADD COLUMN unchanged boolean NOT NULL DEFAULT false;

CREATE INDEX pages_unchanged ON pages (job) WHERE unchanged;

-- Marks unchanged pages and writes the memories of a batch. It runs after write_batch, in the same statement.
-- write_batch has locked the jobs of the batch, so the lookups here see all committed writes. `had` is the result of
-- write_batch; the parameter ensures that write_batch runs first. Each array is one column, as in write_batch. The
-- memories are sorted by (set, page), so that writers cannot deadlock. max(n + 0): for max(n), the planner might scan
-- all memories.
CREATE FUNCTION remember_batch(
  had bigint[],
  same_job text[], same_task text[], same_token bigint[],
  memory_set text[], memory_page text[], memory_job text[], memory_task text[], memory_token bigint[],
  memory_reads text[], memory_etag text[], memory_last_modified text[], memory_fingerprint text[], memory_content text[],
  memory_fetched_at double precision[]
) RETURNS bigint[]
LANGUAGE plpgsql
AS $$
DECLARE
  its_job integer;
  own     bigint;
BEGIN
  FOR place IN 1 .. cardinality(same_job) LOOP
    SELECT alias INTO its_job FROM jobs WHERE jobs.id = same_job[place];
    UPDATE pages SET unchanged = true
      WHERE pages.job = its_job AND pages.task = same_task[place] AND pages.token = same_token[place]
        AND NOT pages.unchanged;
  END LOOP;

  FOR place IN 1 .. cardinality(memory_set) LOOP
    SELECT alias INTO its_job FROM jobs WHERE jobs.id = memory_job[place];
    CONTINUE WHEN EXISTS (
      SELECT FROM pages
      WHERE pages.job = its_job AND pages.task = memory_task[place] AND pages.token > memory_token[place])
      OR EXISTS (
      SELECT FROM tries
      WHERE tries.job = its_job AND tries.task = memory_task[place] AND tries.token > memory_token[place]);
    own := NULL;
    INSERT INTO page_memories AS known (
      set_name, page, job, task, token, reads, etag, last_modified, fingerprint, content, fetched_at
    ) VALUES (
      memory_set[place], memory_page[place], memory_job[place], memory_task[place], memory_token[place],
      memory_reads[place], memory_etag[place], memory_last_modified[place], memory_fingerprint[place],
      memory_content[place], memory_fetched_at[place]
    ) ON CONFLICT (set_name, page, job) DO UPDATE SET task = excluded.task, token = excluded.token,
      reads = excluded.reads, etag = excluded.etag, last_modified = excluded.last_modified,
      fingerprint = excluded.fingerprint, content = excluded.content, fetched_at = excluded.fetched_at
    WHERE excluded.task <> known.task OR excluded.token > known.token
    RETURNING n INTO own;
    CONTINUE WHEN own IS NULL;
    DELETE FROM page_memories
      WHERE set_name = memory_set[place] AND page = memory_page[place] AND n < (
        SELECT max(before.n + 0) FROM page_memories AS before
        WHERE before.set_name = memory_set[place] AND before.page = memory_page[place] AND before.n < own);
  END LOOP;

  RETURN had;
END
$$;
