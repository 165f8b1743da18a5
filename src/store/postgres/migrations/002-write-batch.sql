-- 002-write-batch: writes a batch of pages and attempts in one call, so that no lock is held while a client is slow,
-- stopped or gone.                                                          Cost: O(log n) in the pages, for each row.
--
-- Each array is one column. The caller passes one page per task, with its highest token. `record_page` and
-- `invalid_page` are the number of the page in the batch, from 1. `record_at` and `invalid_at` are the index of the
-- record in its page, from 0.
-- Returns the previous token of each task's page, -1 if there was none. A page whose token is not higher is not
-- written.
--
-- Each statement sees what was committed before it began, so statements after the lock see all writes of its last
-- holder. Lookups are written so that they use an index whatever the planner assumes about table sizes: plans are
-- cached for the lifetime of a connection, and the first plans are made while the tables are empty.
--
-- A change needs a new function name, because workers of both versions may run at once.

CREATE FUNCTION write_batch(
  all_jobs text[], all_workers text[],
  page_job text[], page_task text[], page_token bigint[], page_depth integer[], page_url text[], page_status integer[],
  page_headers text[], page_content_type text[], page_body_bytes bigint[], page_body_ref text[],
  page_screenshot_ref text[], page_pdf_ref text[], page_fetched_at double precision[], page_took_ms double precision[],
  page_records integer[], page_invalid integer[], page_worker text[], page_attempt integer[],
  page_leased_at double precision[], page_ended_at double precision[], page_step text[],
  record_page integer[], record_at integer[], record_fields text[],
  invalid_page integer[], invalid_at integer[], invalid_fields text[], invalid_reason text[],
  try_job text[], try_task text[], try_token bigint[], try_url text[], try_worker text[], try_attempt integer[],
  try_leased_at double precision[], try_ended_at double precision[], try_fate text[], try_because text[],
  try_status integer[], try_detail text[], try_step text[]
) RETURNS bigint[]
LANGUAGE plpgsql
AS $$
DECLARE
  aliases    integer[];
  had        bigint[]; -- for each page: the token before; -1: none
  firsts     bigint[]; -- for each page: the id of its first record; 0: the page is not written
  ids        bigint[]; -- for each page: its id; 0: the page is not written
  replaced   pages;
  its_job    integer;
  its_worker integer;
BEGIN
  -- The batch must be durable when the function returns, whatever the setting of the server.
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;

  -- Inserts missing rows only, because a rejected insert uses up a number. Sorted, so that writers cannot deadlock.
  INSERT INTO jobs (id) SELECT job FROM unnest(all_jobs) AS named(job)
    WHERE NOT EXISTS (SELECT FROM jobs WHERE jobs.id = named.job) ORDER BY job COLLATE "C" ON CONFLICT DO NOTHING;
  PERFORM FROM jobs WHERE jobs.id = ANY (all_jobs) ORDER BY jobs.id FOR UPDATE;
  INSERT INTO workers (name) SELECT worker FROM unnest(all_workers) AS named(worker)
    WHERE NOT EXISTS (SELECT FROM workers WHERE workers.name = named.worker) ORDER BY worker COLLATE "C"
    ON CONFLICT DO NOTHING;

  SELECT array_agg(jobs.alias ORDER BY at), array_agg(coalesce(pages.token, -1) ORDER BY at) INTO aliases, had
  FROM unnest(page_job, page_task) WITH ORDINALITY AS batch(job, task, at)
    JOIN jobs ON jobs.id = batch.job
    LEFT JOIN LATERAL (SELECT token FROM pages WHERE pages.job = jobs.alias AND pages.task = batch.task OFFSET 0)
      AS pages ON true;

  SELECT array_agg(coalesce(next_record + taken - size, 0) ORDER BY at) INTO firsts
  FROM (
    SELECT at, jobs.next_record, size, sum(size) OVER (PARTITION BY batch.job ORDER BY at)::bigint AS taken
    FROM (
      SELECT job, at, CASE WHEN token > old THEN greatest(records, invalid) END AS size
      FROM unnest(aliases, page_token, had, page_records, page_invalid)
        WITH ORDINALITY AS sized(job, token, old, records, invalid, at)
    ) AS batch JOIN jobs ON jobs.alias = batch.job
  ) AS numbered;
  -- Page ids follow the order of the batch.
  FOR place IN 1 .. cardinality(page_job) LOOP
    ids[place] := CASE WHEN firsts[place] > 0 THEN nextval('page_ids') ELSE 0 END;
  END LOOP;

  -- Remove the pages that this batch replaces. They are rare.
  FOR place IN 1 .. cardinality(page_job) LOOP
    CONTINUE WHEN ids[place] = 0 OR had[place] < 0;
    DELETE FROM pages WHERE pages.job = aliases[place] AND pages.task = page_task[place] RETURNING * INTO replaced;
    DELETE FROM records
      WHERE records.job = replaced.job AND records.id >= replaced.first AND records.id < replaced.first + replaced.records;
    DELETE FROM invalid_records
      WHERE invalid_records.job = replaced.job
        AND invalid_records.id >= replaced.first AND invalid_records.id < replaced.first + replaced.invalid;
    UPDATE jobs SET records = jobs.records - replaced.records WHERE jobs.alias = replaced.job;
  END LOOP;

  INSERT INTO pages (
    job, id, task, token, depth, url, status, headers, content_type, body_bytes, body_ref, screenshot_ref, pdf_ref,
    fetched_at, took_ms, first, records, invalid, worker, attempt, leased_at, ended_at, step
  )
  SELECT
    batch.job, batch.id, task, token, depth, url, status, headers, content_type, body_bytes, body_ref, screenshot_ref,
    pdf_ref, fetched_at, took_ms, first, records, invalid, workers.alias, attempt, leased_at, ended_at, step
  FROM unnest(
    aliases, ids, page_task, page_token, page_depth, page_url, page_status, page_headers, page_content_type,
    page_body_bytes, page_body_ref, page_screenshot_ref, page_pdf_ref, page_fetched_at, page_took_ms, firsts,
    page_records, page_invalid, page_worker, page_attempt, page_leased_at, page_ended_at, page_step
  ) AS batch(
    job, id, task, token, depth, url, status, headers, content_type, body_bytes, body_ref, screenshot_ref, pdf_ref,
    fetched_at, took_ms, first, records, invalid, worker, attempt, leased_at, ended_at, step
  ) LEFT JOIN workers ON workers.name = batch.worker
  WHERE batch.id > 0;

  INSERT INTO records (job, id, page, fields)
  SELECT aliases[page], firsts[page] + at, ids[page], fields
  FROM unnest(record_page, record_at, record_fields) AS batch(page, at, fields) WHERE ids[page] > 0;

  INSERT INTO invalid_records (job, id, page, fields, reason)
  SELECT aliases[page], firsts[page] + at, ids[page], fields, reason
  FROM unnest(invalid_page, invalid_at, invalid_fields, invalid_reason) AS batch(page, at, fields, reason)
  WHERE ids[page] > 0;

  UPDATE jobs SET next_record = taken.next_record, records = jobs.records + taken.records
  FROM (
    SELECT job, max(first + greatest(batch.records, invalid)) AS next_record, sum(batch.records) AS records
    FROM unnest(aliases, firsts, page_records, page_invalid) AS batch(job, first, records, invalid)
    WHERE first > 0 GROUP BY job
  ) AS taken WHERE jobs.alias = taken.job;

  -- Attempts are written after the pages, because a page of this batch may be from a later lease. They are written one
  -- by one, so that each sees the previous ones.
  FOR place IN 1 .. cardinality(try_job) LOOP
    SELECT alias INTO its_job FROM jobs WHERE jobs.id = try_job[place];
    SELECT alias INTO its_worker FROM workers WHERE workers.name = try_worker[place];
    CONTINUE WHEN EXISTS (
      SELECT FROM tries WHERE tries.job = its_job AND tries.task = try_task[place] AND tries.token > try_token[place])
      OR EXISTS (
      SELECT FROM pages WHERE pages.job = its_job AND pages.task = try_task[place] AND pages.token >= try_token[place]);
    INSERT INTO tries (job, task, token, url, worker, attempt, leased_at, ended_at, fate, because, status, detail, step)
    VALUES (
      its_job, try_task[place], try_token[place], try_url[place], its_worker, try_attempt[place], try_leased_at[place],
      try_ended_at[place], try_fate[place], try_because[place], try_status[place], try_detail[place], try_step[place]
    ) ON CONFLICT DO NOTHING;
  END LOOP;

  RETURN had;
END
$$;
