-- base: included by every script: key names, time, numbers.
-- KEYS  1 the shard, "trawl:{0}". Which lanes and sites a script needs is known only when it runs. So it builds the
--       other keys from this one. They have the same hash tag, and so the same cluster slot. keys.ts lists all keys.
local shard = KEYS[1]

-- Means "not until something changes".
local NEVER = 9e15
-- The same as MAX_BATCH in frontier.ts.
local MAX_BATCH = 500

local function key(name, of)
  return of == nil and shard .. ":" .. name or shard .. ":" .. name .. ":" .. of
end

-- Times have more than the 14 digits that Lua writes by default.
local function exact(number)
  return string.format("%.17g", number)
end

-- Six bytes, big-endian, so that members with the same score are sorted by number.
local function ordered(number)
  return struct.pack(">I6", number)
end

local function number_in(text, from)
  return (struct.unpack(">I6", text, from))
end

-- The caller's time if it passes one, else this server's.
local function time_of(given)
  if given ~= "" then return tonumber(given) end
  local now = redis.call("TIME")
  return now[1] * 1000 + now[2] / 1000
end

-- Converts a time from the caller. The caller's clock may differ from this server's, so the caller passes the duration
-- from now to that time. If the caller passes its own current time, `given`, then `text` is the time itself.
local function given_time(given, text, now)
  return given == "" and now + tonumber(text) or tonumber(text)
end

-- The id of a task that was never granted, which is stored as "id body".
local function task_id_of(packed)
  return string.match(packed, "^%d+")
end
