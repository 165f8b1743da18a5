-- base: what every script begins with: names of keys, time, numbers.
-- KEYS  1 the shard, "trawl:{0}". Which lanes and sites a call meets is known only once it runs, so the other keys are
--         made from this one; they carry its hash tag and live in its slot. keys.ts lists them all.
local shard = KEYS[1]

-- Stands for "not until something changes".
local NEVER = 9e15
-- Tasks that one call deals with at most.
local BATCH_MOST = 500

local function key(name, of)
  return of == nil and shard .. ":" .. name or shard .. ":" .. name .. ":" .. of
end

-- Lua writes 14 digits of a number unless told: times have more.
local function exact(number)
  return string.format("%.17g", number)
end

-- Six bytes in order of size, so that members of equal score come in order of their numbers.
local function ordered(number)
  return struct.pack(">I6", number)
end

local function number_in(text, from)
  return (struct.unpack(">I6", text, from))
end

-- The caller's time where it gives one; else this server's.
local function time_of(given)
  if given ~= "" then return tonumber(given) end
  local now = redis.call("TIME")
  return now[1] * 1000 + now[2] / 1000
end

-- A task that was never granted is "id body"; this is its id, as text.
local function id_of(packed)
  return string.match(packed, "^%d+")
end
