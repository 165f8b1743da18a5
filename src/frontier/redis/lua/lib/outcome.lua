-- outcome: what becomes of a task, and what its answer tells about the site (F14).
-- Answers of requests sent before a rest began are the same incident, not a new one, and do not end it.
local function hear_site(site, heard)
  local resting = site[BLOCKED_UNTIL] > step.now
  if heard == "ok" and not resting then site[INCIDENTS] = 0 end
  if heard == "ok" or heard == "" then return end
  local asked = string.match(heard, "^throttled ?(.*)$")
  if not resting then site[INCIDENTS] = site[INCIDENTS] + 1 end
  local rest = tonumber(asked) or math.min(1000 * 2 ^ (site[INCIDENTS] - 1), 60000)
  site[BLOCKED_UNTIL] = math.max(site[BLOCKED_UNTIL], step.now + rest)
end

local function put_off(task, lane, job, site, outcome)
  task.failures, task.crashes = task.failures + 1, 0
  if task.failures > job.retries then return bury(task, lane, job, site, "retries_spent", outcome.status or false) end
  if job.stopped == 1 then
    job.cancelled = job.cancelled + 1
    return
  end
  local wait = math.max(backoff_ms(job.backoff, task.failures, task.id), outcome.retryAfterMs or 0)
  task.not_before = step.now + wait
  delay(task, lane_after(task, lane, job, site), job)
end

local function apply(task, lane, job, site, told)
  if told == "done" then return end -- counted with what it brought
  if told == "refused" then
    job.refused = job.refused + 1
    return
  end
  local outcome = cjson.decode(told)
  task.history = with_misfortune(task, outcome.told)
  if outcome.kind == "retry" then return put_off(task, lane, job, site, outcome) end
  bury(task, lane, job, site, outcome.because, outcome.status or false)
end
