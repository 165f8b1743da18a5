-- admit: queues URLs that are new in their scope (F9).       Cost: one small set and one list a new URL.
-- Tasks come as triples in ARGV from `from` on: lane, fingerprint, body. The lane is a place in `lanes`, where each has
-- a site, a queue and a priority; negative for what continues a page after a redirect, and is not another one.
-- The number of the next task; the shard can be told from it.
local function next_task_id()
  return step.totals.next_task * step.totals.shards + step.totals.shard
end

local function judge(job, scope, fingerprint, continues)
  local over = not continues and job.page_limit and job.admitted >= job.page_limit
  local is_new
  if job.lapse then is_new = see_for_a_while(job, fingerprint, not over and next_task_id())
  elseif over then is_new = not has_seen(scope, fingerprint)
  else is_new = see(scope, fingerprint) end
  if not is_new then return "duplicate" end
  if over then return "page_limit" end
  if not continues then job.admitted = job.admitted + 1 end
  return "queued"
end

-- Where tasks of a job for one of the named lanes are gathered.
local function open_basket(named, job)
  local site, queue, priority = unpack(named)
  local n = site_number(site) or add_site(site)[NUMBER]
  local lane = job.n .. ":" .. n .. ":" .. priority .. ":" .. queue
  return { site = n, queue = queue, priority = tonumber(priority), lane = lane, tasks = {} }
end

-- Queues what has been gathered. Behind others it changes nothing else: neither lane nor site are looked at.
local function push_basket(job, basket)
  local count = #basket.tasks
  local length = redis.call("RPUSH", key("tasks", basket.lane), unpack(basket.tasks))
  local lane = step.lanes[basket.lane]
  if length == count then
    lane = lane_for(job, site_numbered(basket.site), basket.queue, basket.priority)
    lane.rescore = true
  end
  if lane then lane.queued = length end
  step.totals.pending = step.totals.pending + count
  step.waiting[basket.queue] = (step.waiting[basket.queue] or 0) + count
  step.at_site[basket.site] = (step.at_site[basket.site] or 0) + count
end

local function admit(job, lanes, from, count, as)
  local answer = { queued = 0, duplicates = 0, refused = {} }
  local ended = job.stopped == 1 or job.finished ~= nil
  local scope = scope_numbered(job.scope)
  local baskets, used, places = {}, {}, {}
  for nth = 0, count - 1 do
    local at = from + nth * 3
    local place = places[ARGV[at]]
    if not place then
      place = tonumber(ARGV[at])
      places[ARGV[at]] = place
    end
    local verdict = ended and "job_ended" or judge(job, scope, ARGV[at + 1], place < 0)
    if verdict == "queued" then
      place = place < 0 and -place or place
      local basket = baskets[place]
      if not basket then
        basket = open_basket(lanes[place], job)
        baskets[place], used[#used + 1] = basket, basket
      end
      basket.tasks[#basket.tasks + 1] = string.format("%d %s", next_task_id(), ARGV[at + 2])
      step.totals.next_task = step.totals.next_task + 1
      answer.queued = answer.queued + 1
    elseif verdict == "duplicate" then answer.duplicates = answer.duplicates + 1
    else
      answer.refused[#answer.refused + 1] = nth
      answer.refused[#answer.refused + 1] = verdict
    end
  end
  for _, basket in ipairs(used) do push_basket(job, basket) end
  job[as] = job[as] + count
  job.queued = job.queued + answer.queued
  job.duplicate = job.duplicate + answer.duplicates
  job.refused = job.refused + #answer.refused / 2
  return answer
end

-- Reads `count` lanes from ARGV; the answer is where what follows begins.
local function read_lanes(from, count)
  local lanes = {}
  for nth = 1, count do
    lanes[nth] = { ARGV[from], ARGV[from + 1], ARGV[from + 2] }
    from = from + 3
  end
  return lanes, from
end
