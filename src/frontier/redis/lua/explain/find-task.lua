#!lua flags=allow-oom
-- find-task: search one list of a lane for a URL, one page per call.                    Cost: O(tasks read), `max`.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 "tasks", "back" or "delayed"   3 lane   4 first index   5 max   6 the end of the task's body
--       7 its id, or "" if unknown
-- Reply: now, number of tasks read, then if found: id, failures, not before, history.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
tx.now = time_of(ARGV[1])
local list, from, max, tail = key(ARGV[2], ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local range = ARGV[2] == "tasks" and "LRANGE" or "ZRANGE"
local found = redis.call(range, list, from, from + max - 1)
local function number_of(member)
  return ARGV[2] == "tasks" and tonumber(task_id_of(member)) or number_in(member)
end

for _, member in ipairs(found) do
  if string.sub(member, -#tail) == tail and (ARGV[7] == "" or number_of(member) == tonumber(ARGV[7])) then
    if ARGV[2] == "tasks" then return { exact(tx.now), #found, task_id_of(member), "0", "", "" } end
    local task = unpack_task(member)
    return {
      exact(tx.now), #found, tostring(task.id), tostring(task.failures),
      task.not_before and exact(task.not_before) or "", task.history or "",
    }
  end
end
return { exact(tx.now), #found }
