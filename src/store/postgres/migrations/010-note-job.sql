-- 010-note-job: notes whose a job is, unless its owner has as many open ones as may be. True where it is noted, now or
-- before. In one call: a connection that breaks between two statements would leave the library with an answer for nobody.
--
-- Each statement sees what was committed before it began: so what follows the lock sees all that its last holder did.

CREATE FUNCTION note_job(its_owner text, its_job text, its_time double precision, most bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
  -- Of those who count the same owner's jobs, one goes on.
  PERFORM pg_advisory_xact_lock(hashtextextended('trawl job owner ' || its_owner, 0));
  IF EXISTS (SELECT 1 FROM job_owners WHERE job = its_job) THEN RETURN true; END IF;
  IF (SELECT count(*) FROM job_owners WHERE owner = its_owner AND is_open) >= most THEN RETURN false; END IF;
  INSERT INTO job_owners (owner, job, noted_at) VALUES (its_owner, its_job, its_time) ON CONFLICT (job) DO NOTHING;
  RETURN true;
END;
$$;
