#!lua flags=allow-oom
-- settle: ends tasks with what they brought, or puts them off (F7, F8, F14).  Cost: a few small writes a task, see admit.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 how many lanes, then 3 words for each (see admit)
--       then for each task: id, token, outcome, site, refused links, known links, pages, records, invalid, bytes, and
--       how many new links, then 3 words for each of those.
--       outcome: "done", "refused", or JSON of a retry or a death: kind, because, status, retryAfterMs, told (the
--       history line without braces). site: "ok", "", or "throttled" and the wait it asked for, if any.
-- Reply: now, then for each task 0 (stale, nothing changed), 1 (settled) or 2 (settled, and all its links are now in the
--        job's own set), then the jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/backoff.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/seen.lua lib/admit.lua lib/leases.lua
begin(ARGV[1])

-- Answers of requests sent before a rest began are the same incident, not a new one, and do not end it.
local function hear_site(site, heard)
  local resting = site[BLOCKED_UNTIL] > step.now
  if heard == "ok" and not resting then site[INCIDENTS] = 0 end
  local asked = string.match(heard, "^throttled ?(.*)$")
  if not asked then return end
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
  delay(task, lane, job)
end

local function apply(task, lane, job, site, told)
  if told == "done" or told == "refused" then
    job[told] = job[told] + 1
    return
  end
  local outcome = cjson.decode(told)
  task.history = with_misfortune(task, outcome.told)
  if outcome.kind == "retry" then return put_off(task, lane, job, site, outcome) end
  bury(task, lane, job, site, outcome.because, outcome.status or false)
end

local function bring_in(job, lanes, at, links)
  local refused, known = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  if links > 0 then admit(job, lanes, at + 11, links, "discovered") end
  job.discovered = job.discovered + refused + known
  job.refused = job.refused + refused
  -- The caller knows these to be seen; of a job that has ended they are refused like all others.
  local fate = (job.stopped == 1 or job.finished) and "refused" or "duplicate"
  job[fate] = job[fate] + known
  local own_set = not job.lapse and not job.page_limit and fate == "duplicate"
  for nth, tally in ipairs({ "pages", "records", "invalid", "bytes" }) do
    job[tally] = job[tally] + tonumber(ARGV[at + 5 + nth])
  end
  return own_set and 2 or 1
end

local lanes, at = read_lanes(3, tonumber(ARGV[2]))
local reply = { exact(step.now) }
while at <= #ARGV do
  local links = tonumber(ARGV[at + 10])
  local task = claimed(ARGV[at], ARGV[at + 1])
  reply[#reply + 1] = task and 1 or 0
  if task then
    own_share = own_share + 1
    local lane, job, site = end_lease(task)
    hear_site(site, ARGV[at + 3])
    apply(task, lane, job, site, ARGV[at + 2])
    if ARGV[at + 2] == "done" then reply[#reply] = bring_in(job, lanes, at, links) end
  end
  at = at + 11 + links * 3
end
forget_ended()
save()
save_scopes()
for _, id in ipairs(step.finished) do reply[#reply + 1] = id end
return reply
