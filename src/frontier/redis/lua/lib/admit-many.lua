-- admit-many: queue many URLs of a running job with a few commands per batch instead of several per URL. The effect is
-- the same as that of `admit`. `as`: "submitted" or "discovered". The fields of `tasks`:
-- * sites: the site of each lane
-- * routes: queue, priority and number of lanes, for each group of consecutive lanes with the same queue and priority
-- * runs: lane and number of tasks, for each group of consecutive tasks of one lane; the lane is negative if the tasks
--   are targets of a redirect
-- * fingerprints and bodies of the tasks
-- * list: about how many tasks of the caller's whole list are sent to this shard, in this call and others
-- Measured: for 10,000 URLs, Redis needs 22 ms of CPU time at one site and 157 ms at 8,000 new sites. With `admit` it
-- needs 38 ms and 453 ms.

local admit_many
-- The block keeps its functions out of the 200 local variables that a script may have.
do
  -- Submitters send long lists in calls of 2,500 tasks. After a first call of this size, more calls probably follow. So
  -- buckets for 10,000 URLs are created, which avoids most splits and saves 4 ms of 27 ms. If no more calls follow, the
  -- scope uses 3 bytes more per URL.
  local LONG_LIST, FIRST_SIZE = 2000, 10000

  -- Creates the buckets for this many URLs in an empty scope.
  local function make_buckets(scope, urls)
    while urls > FILL * PARTS * scope.size do scope.level, scope.size = scope.level + 1, PARTS * scope.size end
    scope.split = math.max(0, math.ceil((urls / FILL - scope.size) / (PARTS - 1)))
    if scope.split == scope.size then scope.level, scope.size, scope.split = scope.level + 1, PARTS * scope.size, 0 end
  end

  -- Adds the members that the set already has to `seen`, and returns the others.
  local function without_seen(members, is_member, seen)
    local first = 1
    while is_member[first] == 0 do first = first + 1 end
    if first > #members then return members end
    local new = {}
    for nth, member in ipairs(members) do
      if is_member[nth] == 1 then seen[member] = true else new[#new + 1] = member end
    end
    return new
  end

  -- Marks the first `count` URLs as seen, with one or two commands per bucket. Returns nil if all were new and different;
  -- otherwise a table with the fingerprints that were seen before.
  local function mark_all_seen(scope, fingerprints, count, list)
    if scope.count == 0 and list >= LONG_LIST then make_buckets(scope, FIRST_SIZE) end
    local floor, size, split, buckets, seen, marked = math.floor, scope.size, scope.split, {}, {}, 0
    for nth = 1, count do
      local fingerprint = fingerprints[nth]
      -- The same as bucket_of, which would also format the name of the bucket for each URL.
      local hash = floor(fingerprint / 2048)
      local bucket = hash % size
      if bucket < split then bucket = hash % (PARTS * size) end
      local members = buckets[bucket]
      if not members then buckets[bucket] = fingerprint
      elseif type(members) == "table" then members[#members + 1] = fingerprint
      else buckets[bucket] = { members, fingerprint } end
    end
    for bucket, members in pairs(buckets) do
      local name = string.format("%s%d", scope.buckets, bucket)
      if type(members) ~= "table" then
        -- In a large scope, most URLs of a batch are alone in their buckets. Then the reply of SADD is sufficient.
        if redis.call("SADD", name, members) == 1 then marked = marked + 1 else seen[members] = true end
      else
        local new = without_seen(members, redis.call("SMISMEMBER", name, unpack(members)), seen)
        if #new > 0 then marked = marked + redis.call("SADD", name, unpack(new)) end
      end
    end
    scope.count = scope.count + marked
    return marked < count and seen or nil
  end

  -- Returns which fingerprints are duplicates (nil: none), and whether this is known. If a task may be refused, it is
  -- not known, and the caller decides for each task.
  local function find_duplicates(job, scope, tasks, count)
    if job.lapse or job.page_limit and job.admitted + count > job.page_limit then return nil, false end
    return mark_all_seen(scope, tasks.fingerprints, count, tasks.list), true
  end

  -- Returns a function that prepends the id of the next task to a body. Formatting only every hundredth id takes
  -- 0.27 µs per task instead of 0.49 µs.
  local function create_stamp()
    local totals, endings, first, start = tx.totals, {}, -1, ""
    for nth = 0, 99 do endings[nth] = string.format("%02d ", nth) end
    return function(body)
      local id = totals.next_task * totals.shards + totals.shard
      totals.next_task = totals.next_task + 1
      if id < 100 then return string.format("%d %s", id, body) end
      local ending = id % 100
      if id - ending ~= first then
        first = id - ending
        start = string.format("%d", first / 100)
      end
      return start .. endings[ending] .. body
    end
  end

  -- The route of each lane. Lanes in a row with the same queue and priority share one.
  local function read_routes(values)
    local routes = {}
    for at = 1, #values, 3 do
      local route = { queue = values[at], priority = values[at + 1] }
      for _ = 1, values[at + 2] do routes[#routes + 1] = route end
    end
    return routes
  end

  -- Groups the tasks to queue by lane, in the order of their first task.
  local function collect_batches(job, tasks, count, answer)
    local fingerprints, bodies, runs, scope = tasks.fingerprints, tasks.bodies, tasks.runs, scope_numbered(job.scope)
    local duplicates, is_known = find_duplicates(job, scope, tasks, count)
    local routes, batches, used, nth, stamp = read_routes(tasks.routes), {}, {}, 0, create_stamp()
    for run = 1, #runs, 2 do
      local index, continues = math.abs(runs[run]), runs[run] < 0
      local list = batches[index] and batches[index].tasks or {}
      local before = #list
      local last = math.min(nth + runs[run + 1], count)
      if is_known and not duplicates then
        for at = nth + 1, last do list[before + at - nth] = stamp(bodies[at]) end
        nth = last
      end
      while nth < last do
        nth = nth + 1
        local fingerprint, decision = fingerprints[nth], nil
        if is_known then
          decision = duplicates[fingerprint] and "duplicate" or "queued"
          duplicates[fingerprint] = true
        else decision = decide(job, scope, fingerprint, continues) end
        if decision == "queued" then list[#list + 1] = stamp(bodies[nth])
        elseif decision == "duplicate" then answer.duplicates = answer.duplicates + 1
        else
          answer.refused[#answer.refused + 1] = nth - 1
          answer.refused[#answer.refused + 1] = decision
        end
      end
      local queued = #list - before
      answer.queued = answer.queued + queued
      if is_known and not continues then job.admitted = job.admitted + queued end
      if queued > 0 and not batches[index] then
        batches[index] = { name = tasks.sites[index], route = routes[index], tasks = list }
        used[#used + 1] = batches[index]
      end
    end
    return used
  end

  -- Queues the tasks as `admit` does.
  local function push_alone(job, batch, n)
    local queue, priority = batch.route.queue, batch.route.priority
    local lane = string.format("%d:%d:%d:%s", job.n, n, priority, queue)
    push_batch(job, { site = n, queue = queue, priority = priority, lane = lane, tasks = batch.tasks })
    return tx.lanes[lane]
  end

  -- Whether the lanes of new sites differ only in names and numbers, and the numbers fit into four bytes.
  local function are_alike(job, batches)
    local first, last_number = batches[1], math.max(tx.totals.next_site, tx.totals.next_lane) + #batches
    if job.has_rules == 1 or not may_send(job) or last_number >= 2 ^ 32 then return false end
    for _, batch in ipairs(batches) do
      local is_offline = string.byte(batch.name) == 35 -- "#"
      if is_offline or batch.route ~= first.route then return false end
    end
    return true
  end

  -- Queues the tasks of the first of several new sites, and saves the site and its lane at once. Returns both.
  local function push_first(job, batch)
    local site = add_site(batch.name)
    local lane = push_alone(job, batch, site[NUMBER])
    save_lane(lane)
    update_policy(site)
    save_site(site)
    tx.lanes[lane.name], tx.sites[site[NUMBER]], tx.policy_changed[site[NUMBER]] = nil, nil, nil
    return site, lane
  end

  -- The encoding of the length of a string in MessagePack.
  local length_codes = {}
  local function length_code(length)
    local code = length_codes[length]
    if not code then
      code = string.sub(cmsgpack.pack(string.rep("x", length)), 1, -length - 1)
      length_codes[length] = code
    end
    return code
  end

  -- The job may already have counters at a new site, because tasks at its offline site count for the site. The new
  -- entries must keep these counters and the lanes in them.
  local function keep_counters(job, entries)
    for at = 1, #entries, 2 do
      local packed = redis.call("HGET", key("job-sites", job.n), entries[at])
      if packed then
        local counters, lane = cmsgpack.unpack(packed), cmsgpack.unpack(entries[at + 1])[AT_LANES]
        counters[AT_LANES] = counters[AT_LANES] .. lane
        entries[at + 1] = cmsgpack.pack(counters)
      end
    end
  end

  -- Queues the tasks of new sites. Their rows differ from those of `site` and `lane` only in names and numbers. So only
  -- these fields are packed for each site, and one command writes the rows of all sites.
  local function push_copies(job, batches, site, lane)
    local pack, format, row = cmsgpack.pack, string.format, lane.row
    -- UINT32 starts a number of four bytes.
    local UINT32, site_head, lane_head = "\206", string.sub(pack(site), 1, 3), string.sub(pack(row), 1, 1) .. "\206"
    local to_number, to_lane = pack(unpack(site, 2, NUMBER - 1)) .. UINT32, pack(unpack(site, NUMBER + 1, TURNS + LANES))
    local site_end, to_site = pack(site[TURNS + ONLY_SCORE]), pack(unpack(row, 2, SITE_NUMBER - 1)) .. UINT32
    local row_end, counters = pack(unpack(row, SITE_NUMBER + 1, QUEUE)), { "", 0, 0, 0, 0, 0, 0, false }
    local counters_head, counters_end = string.sub(pack(counters), 1, 1), " " .. pack(unpack(counters, 2))
    local lane_start, lane_end = job.n .. ":", format(":%d:%s", row[PRIORITY], row[QUEUE])
    local site_key, lane_key, tasks_key = key("site", ""), key("lane", ""), key("tasks", "")
    local due, served = exact(site[TURNS + DUE]), string.sub(due_member(site, TURNS), 1, 6) .. "\0\0"
    local numbers, rows, lanes, names, job_sites, turns, waiting, queued = {}, {}, {}, {}, {}, {}, {}, 0
    for nth, batch in ipairs(batches) do
      local name, n, seq, at = batch.name, next_number("next_site"), next_number("next_lane"), 2 * nth
      local number, bytes = format("%d", n), struct.pack(">I4", n)
      local of = lane_start .. number .. lane_end
      redis.call("RPUSH", tasks_key .. of, unpack(batch.tasks))
      numbers[at - 1], numbers[at] = name, number
      rows[2 * at - 3] = site_key .. number
      rows[2 * at - 2] = site_head .. length_code(#name) .. name .. to_number .. bytes .. to_lane .. length_code(#of) .. of .. site_end
      rows[2 * at - 1] = lane_key .. of
      rows[2 * at] = lane_head .. struct.pack(">I4", seq) .. to_site .. bytes .. row_end
      lanes[at - 1], lanes[at] = format("%d", seq), of
      names[at - 1], names[at] = "0", name
      job_sites[at - 1], job_sites[at] = name, counters_head .. length_code(#of + 1) .. of .. counters_end
      turns[at - 1], turns[at] = due, served .. bytes
      waiting[at - 1], waiting[at] = number, #batch.tasks
      queued = queued + #batch.tasks
    end
    redis.call("HSET", key("sites"), unpack(numbers))
    redis.call("MSET", unpack(rows))
    redis.call("ZADD", key("job-lanes", job.n), unpack(lanes))
    if redis.call("ZADD", key("job-site-names", job.n), unpack(names)) < #batches then keep_counters(job, job_sites) end
    redis.call("HSET", key("job-sites", job.n), unpack(job_sites))
    redis.call("ZADD", due_key(site[INTERVAL] > 0, site[TURNS]), unpack(turns))
    redis.call("HSET", key("site-waiting"), unpack(waiting))
    collect_due(site[TURNS], site[TURNS + DUE], #batches)
    tx.totals.pending, tx.waiting[row[QUEUE]] = tx.totals.pending + queued, (tx.waiting[row[QUEUE]] or 0) + queued
  end

  -- Splits batches into those of new sites for which push_copies can be used, and the others.
  local function find_new(job, batches)
    local names, new, others = {}, {}, {}
    for nth, batch in ipairs(batches) do names[nth] = batch.name end
    local numbers, alike = redis.call("HMGET", key("sites"), unpack(names)), are_alike(job, batches)
    for nth, batch in ipairs(batches) do
      batch.site = tonumber(numbers[nth] or nil)
      local list = alike and not batch.site and new or others
      list[#list + 1] = batch
    end
    return new, others
  end

  function admit_many(job, tasks, count, as)
    local answer = { queued = 0, duplicates = 0, refused = {} }
    local batches = collect_batches(job, tasks, count, answer)
    if #batches > 0 then
      local new, others = find_new(job, batches)
      for _, batch in ipairs(others) do
        -- Another lane of this call may have added the site.
        push_alone(job, batch, batch.site or site_number(batch.name) or add_site(batch.name)[NUMBER])
      end
      if #new > 0 then
        local site, lane = push_first(job, table.remove(new, 1))
        if #new > 0 then push_copies(job, new, site, lane) end
      end
    end
    job[as] = job[as] + count
    job.queued = job.queued + answer.queued
    job.duplicate = job.duplicate + answer.duplicates
    job.refused = job.refused + #answer.refused / 2
    return answer
  end
end
