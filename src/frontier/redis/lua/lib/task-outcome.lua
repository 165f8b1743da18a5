-- task-outcome: apply the outcome of a task, and update the backoff of its site (F14).

-- Counts a throttled response. Returns whether it starts a backoff. The same as afterThrottled in domain/throttling.ts.
function health.count_throttled(site, is_retry)
  local known = health.of(site)
  local isolated, is_good = known.isolated, known.is_good
  if is_retry and isolated > 0 then return false end
  known.isolated = is_good and math.min(6, isolated + 1) or math.max(0, isolated - 1)
  known.is_good, known.is_changed = false, true
  return not (is_good and isolated >= 3)
end

-- Updates the backoff of a site after a response. During a backoff, a response is not a new incident and does not end
-- the backoff, because its request was sent before the backoff.
local function update_site_backoff(site, signal, is_retry)
  local is_blocked = site[BLOCKED_UNTIL] > tx.now
  if signal == "ok" then return health.note_good(site) end
  if signal == "" then return end
  local cause, requested = string.match(signal, "^throttled(%S*) ?(.*)$")
  if cause ~= ":robots" and not health.count_throttled(site, is_retry) then return end
  if not is_blocked then site[INCIDENTS] = site[INCIDENTS] + 1 end
  local wait = tonumber(requested) or math.min(1000 * 2 ^ (site[INCIDENTS] - 1), 60000)
  if tx.now + wait <= site[BLOCKED_UNTIL] then return end
  site[BLOCKED_UNTIL] = tx.now + wait
  save_backoff_cause(site, string.sub(cause, 2))
end

-- Returns the reply code of settle.lua.
local function schedule_retry(task, lane, job, site, outcome)
  task.failures, task.crashes = task.failures + 1, 0
  if task.failures > job.retries then
    add_dead_letter(task, lane, job, site, "retries_spent", outcome.status or false)
    return 3
  end
  if job.stopped == 1 then
    job.cancelled = job.cancelled + 1
    return 4
  end
  local wait = math.max(backoff_ms(job.backoff, task.failures, task.id), outcome.retryAfterMs or 0)
  task.not_before = tx.now + wait
  delay(task, lane_after(task, lane, job, site), job)
  return 1
end

-- Returns the reply code of settle.lua.
local function apply_outcome(task, lane, job, site, text)
  if text == "done" then return 1 end -- counted by `tally`
  if text == "refused" then
    job.refused = job.refused + 1
    return 1
  end
  local outcome = cjson.decode(text)
  task.history = append_attempt(task, outcome.told)
  if outcome.kind == "retry" then return schedule_retry(task, lane, job, site, outcome) end
  add_dead_letter(task, lane, job, site, outcome.because, outcome.status or false)
  return 1
end
