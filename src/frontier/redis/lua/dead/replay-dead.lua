#!lua
-- replay-dead: queue dead tasks again, at a rate (F15). Ended jobs run again; cancelled jobs cannot be replayed.
-- KEYS  1 the shard                                                                Cost: a few small writes per letter.
-- ARGV  as in lib/dead, then   9 tasks that become due each second   10 tasks replayed before this call   11… ids of
--       the jobs to replay (none: all jobs), then the receipt
-- Reply: now, the task to continue after or "", number of queued tasks, then the ids of their jobs.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua lib/dead.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local per_second, nth = tonumber(ARGV[9]), tonumber(ARGV[10])

local allowed, served = {}, {}
for at = 11, #ARGV do allowed[ARGV[at]] = true end

local function requeue_letter(letter, due)
  local job = job_numbered(letter.job)
  local site = site_named(letter.site)
  local lane, counters = lane_for(job, site, letter.queue, letter.priority), job_site_counters(job, site)
  local task = {
    id = letter.id, token = letter.token, failures = 0, crashes = 0, not_before = due > tx.now and due,
    history = false, body = letter.body,
  }
  job.dead, counters[AT_DEAD] = job.dead - 1, counters[AT_DEAD] - 1
  reopen(job)
  if task.not_before then return delay(task, lane, job) end
  requeue(task, lane, job)
end

local letters, after = find_letters(function(letter)
  return is_replayable(letter) and (#ARGV < 11 or allowed[job_numbered(letter.job).id])
end)
local reply = { exact(tx.now), after, #letters }
for _, letter in ipairs(letters) do
  requeue_letter(letter, tx.now + math.floor(nth / per_second) * 1000)
  delete_letter(letter)
  nth = nth + 1
  if not served[letter.job] then reply[#reply + 1] = job_numbered(letter.job).id end
  served[letter.job] = true
end
save()
return save_reply(reply)
