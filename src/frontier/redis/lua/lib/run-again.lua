-- run-again: an ended job that gets dead letters back is under way again, without the deadline it had. The caller
-- writes the row.
local function run_again(job)
  if job.state ~= "finished" and job.state ~= "failed" then return end
  job.state, job.finished, job.stopped, job.deadline = "running", nil, 0, nil
  redis.call("ZREM", key("deadlines"), job.n)
end
