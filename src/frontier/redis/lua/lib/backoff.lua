-- backoff: how long a task waits before its next attempt. The result is the same as in domain/backoff.ts, to the
-- millisecond. The block keeps its functions out of the 200 local variables that a script may have.
local backoff_ms
do
  -- (number * factor) mod 2^32, in two halves because the product does not fit into a double.
  local function times32(number, factor)
    local high, low = math.floor(number / 65536), number % 65536
    return ((high * factor) % 65536 * 65536 + low * factor) % 4294967296
  end

  -- A number in [0, 1) from the seed: one round of the murmur3 finaliser.
  local function jitter_of(seed)
    local function mixed(h, by)
      return bit.tobit(bit.bxor(bit.tobit(h), bit.rshift(bit.tobit(h), by))) % 4294967296
    end
    local h = times32(mixed(seed % 4294967296, 16), 0x85ebca6b)
    h = times32(mixed(h, 13), 0xc2b2ae35)
    return mixed(h, 16) / 4294967296
  end

  function backoff_ms(base, failures, task)
    local wait = math.min(base * 2 ^ (failures - 1), 600000)
    return math.floor(wait * (1 + 0.25 * jitter_of(task * 31 + failures)) + 0.5)
  end
end
