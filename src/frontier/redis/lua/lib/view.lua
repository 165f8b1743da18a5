-- view: a job as people see it, in words; "" for what is not there.
local VIEW = {
  "id", "name", "state", "sealed", "queue", "priority", "created", "finished", "submitted", "discovered", "queued",
  "delayed", "leased", "done", "dead", "cancelled", "duplicate", "refused", "pages", "records", "invalid", "bytes",
  "retries", "admitted", "generation", "spec",
}

local function add_view(reply, n)
  local row = redis.call("HMGET", key("job", n), unpack(VIEW))
  reply[#reply + 1] = tostring(n)
  for _, word in ipairs(row) do reply[#reply + 1] = word or "" end
end
