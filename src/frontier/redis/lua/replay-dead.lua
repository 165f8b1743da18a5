#!lua
-- replay-dead: queues dead tasks again, at a rate (F15). Ended jobs run again; cancelled ones take nothing back.
-- KEYS  1 the shard                                                                  Cost: a few small writes a letter.
-- ARGV  as in lib/dead, then   9 how many become due each second   10 how many were replayed before this call   11… ids of
--       the only jobs that may take theirs back; none: all; then the receipt
-- Reply: now, the task to go on after or "", how many were queued, then the ids of their jobs.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua lib/dead.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local per_second, nth = tonumber(ARGV[9]), tonumber(ARGV[10])

local allowed, served = {}, {}
for at = 11, #ARGV do allowed[ARGV[at]] = true end

local function revive(letter, due)
  local job = job_numbered(letter.job)
  local site = site_named(letter.site)
  local lane, had = lane_for(job, site, letter.queue, letter.priority), site_of_job(job, site)
  local task = {
    id = letter.id, token = letter.token, failures = 0, crashes = 0, not_before = due > step.now and due,
    history = false, body = letter.body,
  }
  job.dead, had[HAD_DEAD] = job.dead - 1, had[HAD_DEAD] - 1
  run_again(job)
  if task.not_before then return delay(task, lane, job) end
  requeue(task, lane, job)
end

local letters, after = find_letters(function(letter)
  return is_revivable(letter) and (#ARGV < 11 or allowed[job_numbered(letter.job).id])
end)
local reply = { exact(step.now), after, #letters }
for _, letter in ipairs(letters) do
  revive(letter, step.now + math.floor(nth / per_second) * 1000)
  drop_letter(letter)
  nth = nth + 1
  if not served[letter.job] then reply[#reply + 1] = job_numbered(letter.job).id end
  served[letter.job] = true
end
save()
return keep_answer(reply)
