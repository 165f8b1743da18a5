-- 010-note-job: adds a job to its owner, unless the owner has the maximum number of open jobs. True if the entry
-- exists. One call, because the client library fails if a connection breaks between two statements of a transaction.
--
-- Each statement sees what was committed before it began, so statements after the lock see all writes of its last
-- holder.

CREATE FUNCTION note_job(its_owner text, its_job text, its_time double precision, most bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
  -- Serializes calls for the same owner.
  PERFORM pg_advisory_xact_lock(hashtextextended('trawl job owner ' || its_owner, 0));
  IF EXISTS (SELECT 1 FROM job_owners WHERE job = its_job) THEN RETURN true; END IF;
  IF (SELECT count(*) FROM job_owners WHERE owner = its_owner AND is_open) >= most THEN RETURN false; END IF;
  INSERT INTO job_owners (owner, job, noted_at) VALUES (its_owner, its_job, its_time) ON CONFLICT (job) DO NOTHING;
  RETURN true;
END;
$$;
