-- admit: queue URLs that are new in their dedup scope (F9). Tasks are triples in ARGV, starting at `from`: lane,
-- fingerprint, body. The lane is an index into `lanes`, whose entries are site, queue and priority. It is negative for
-- the target of a redirect, which does not count as another page.         Cost: one small set and one list per new URL.

-- The id of the next task. `id % shards` is its shard.
local function next_task_id()
  return tx.totals.next_task * tx.totals.shards + tx.totals.shard
end

local function decide(job, scope, fingerprint, continues)
  local over = not continues and job.page_limit and job.admitted >= job.page_limit
  local is_new
  if job.lapse then is_new = mark_seen_until(job, fingerprint, not over and next_task_id())
  elseif over then is_new = not has_seen(scope, fingerprint)
  else is_new = mark_seen(scope, fingerprint) end
  if not is_new then return "duplicate" end
  if over then return "page_limit" end
  if not continues then job.admitted = job.admitted + 1 end
  return "queued"
end

-- Collects the tasks of a job for one lane.
local function open_batch(named, job)
  local site, queue, priority = unpack(named)
  local n = site_number(site) or add_site(site)[NUMBER]
  local lane = job.n .. ":" .. n .. ":" .. priority .. ":" .. queue
  return { site = n, queue = queue, priority = tonumber(priority), lane = lane, tasks = {} }
end

-- Queues the collected tasks. If others already wait in the lane, only the list changes; lane and site are not read.
local function push_batch(job, batch)
  local count = #batch.tasks
  local length = redis.call("RPUSH", key("tasks", batch.lane), unpack(batch.tasks))
  local lane = tx.lanes[batch.lane]
  if length == count then
    lane = lane_for(job, site_numbered(batch.site), batch.queue, batch.priority)
    lane.rescore = true
  end
  if lane then lane.queued = length end
  tx.totals.pending = tx.totals.pending + count
  tx.waiting[batch.queue] = (tx.waiting[batch.queue] or 0) + count
  tx.waiting_at[batch.site] = (tx.waiting_at[batch.site] or 0) + count
end

local function admit(job, lanes, from, count, as)
  local answer = { queued = 0, duplicates = 0, refused = {} }
  local ended = job.stopped == 1 or job.finished ~= nil
  local scope = scope_numbered(job.scope)
  local batches, used, indexes = {}, {}, {}
  for nth = 0, count - 1 do
    local at = from + nth * 3
    local index = indexes[ARGV[at]]
    if not index then
      index = tonumber(ARGV[at])
      indexes[ARGV[at]] = index
    end
    local decision = ended and "job_ended" or decide(job, scope, ARGV[at + 1], index < 0)
    if decision == "queued" then
      index = index < 0 and -index or index
      local batch = batches[index]
      if not batch then
        batch = open_batch(lanes[index], job)
        batches[index], used[#used + 1] = batch, batch
      end
      batch.tasks[#batch.tasks + 1] = string.format("%d %s", next_task_id(), ARGV[at + 2])
      tx.totals.next_task = tx.totals.next_task + 1
      answer.queued = answer.queued + 1
    elseif decision == "duplicate" then answer.duplicates = answer.duplicates + 1
    else
      answer.refused[#answer.refused + 1] = nth
      answer.refused[#answer.refused + 1] = decision
    end
  end
  for _, batch in ipairs(used) do push_batch(job, batch) end
  job[as] = job[as] + count
  job.queued = job.queued + answer.queued
  job.duplicate = job.duplicate + answer.duplicates
  job.refused = job.refused + #answer.refused / 2
  return answer
end

-- Reads `count` lanes from ARGV. Returns them and the index after them.
local function read_lanes(from, count)
  local lanes = {}
  for nth = 1, count do
    lanes[nth] = { ARGV[from], ARGV[from + 1], ARGV[from + 2] }
    from = from + 3
  end
  return lanes, from
end
