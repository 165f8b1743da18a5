#!lua flags=allow-oom
-- find-task: looks for a URL in one place of a lane, a stretch at a time.                Cost: O(tasks looked at), `most`.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 "tasks", "back" or "delayed"   3 lane   4 from   5 most   6 the end of the task's body
--       7 its id, or "" if that is not known
-- Reply: now, how many were looked at, then if it is there: id, failures, not before, history.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
step.now = time_of(ARGV[1])
local place, from, most, tail = key(ARGV[2], ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local range = ARGV[2] == "tasks" and "LRANGE" or "ZRANGE"
local found = redis.call(range, place, from, from + most - 1)
local function number_of(member)
  return ARGV[2] == "tasks" and tonumber(id_of(member)) or number_in(member)
end

for _, member in ipairs(found) do
  if string.sub(member, -#tail) == tail and (ARGV[7] == "" or number_of(member) == tonumber(ARGV[7])) then
    if ARGV[2] == "tasks" then return { exact(step.now), #found, id_of(member), "0", "", "" } end
    local task = unpack_task(member)
    return {
      exact(step.now), #found, tostring(task.id), tostring(task.failures),
      task.not_before and exact(task.not_before) or "", task.history or "",
    }
  end
end
return { exact(step.now), #found }
