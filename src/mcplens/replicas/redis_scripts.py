"""The atomic steps of the Redis driver, as Lua scripts that run in the store.

Time is the store's own (TIME), in milliseconds. Members and places are fields of a hash whose
values begin with the time at which they expire, as 16 digits. Called by redis_store.py alone.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec


class Script(msgspec.Struct, frozen=True):
    """A Lua script, and the digest by which the store knows it."""

    text: bytes
    digest: str


def _script(text: str) -> Script:
    raw = text.strip().encode()
    return Script(raw, hashlib.sha1(raw, usedforsecurity=False).hexdigest())


_NOW: Final = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
"""

# ARGV: whether the key must be absent (1), the expected value, the value, its time to live
COMPARE_AND_SET: Final = _script("""
local found = redis.call('GET', KEYS[1])
if ARGV[1] == '1' then
  if found then return 0 end
elseif found ~= ARGV[2] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
""")

# ARGV: the expected value
COMPARE_AND_DELETE: Final = _script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
""")

# ARGV: member, value, time to live. The reply is 1 if the member was not there.
JOIN: Final = _script(
    _NOW
    + """
local found = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], string.format('%016d', now + ARGV[3]) .. ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
if found and tonumber(string.sub(found, 1, 16)) > now then return 0 end
return 1
"""
)

# A reply of members and values, one after another; those whose time is over are removed.
MEMBERS: Final = _script(
    _NOW
    + """
local found, members = redis.call('HGETALL', KEYS[1]), {}
for at = 1, #found, 2 do
  if tonumber(string.sub(found[at + 1], 1, 16)) > now then
    members[#members + 1] = found[at]
    members[#members + 1] = string.sub(found[at + 1], 17)
  else
    redis.call('HDEL', KEYS[1], found[at])
  end
end
return members
"""
)

# KEYS: the list, and a hash of its last number and its size.
# ARGV: the most entries, the most bytes, time to live, the entries
APPEND: Final = _script("""
local last, size = 0, 0
for at = 4, #ARGV do
  redis.call('RPUSH', KEYS[1], ARGV[at])
  last = redis.call('HINCRBY', KEYS[2], 'last', 1)
  size = redis.call('HINCRBY', KEYS[2], 'size', #ARGV[at])
end
local count, before = redis.call('LLEN', KEYS[1]), size
while count > tonumber(ARGV[1]) or size > tonumber(ARGV[2]) do
  size = size - #redis.call('LPOP', KEYS[1])
  count = count - 1
end
redis.call('HINCRBY', KEYS[2], 'size', size - before)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return last
""")

# ARGV: the number after which to read. The reply is the oldest number, then the entries.
READ: Final = _script("""
local last = tonumber(redis.call('HGET', KEYS[2], 'last') or '0')
local oldest = last - redis.call('LLEN', KEYS[1]) + 1
local skipped = math.max(0, tonumber(ARGV[1]) + 1 - oldest)
return {oldest, redis.call('LRANGE', KEYS[1], skipped, -1)}
""")

# ARGV: tokens per second, burst, the most to take. The reply is how many, and the wait in ms.
TAKE_TOKENS: Final = _script(
    _NOW
    + """
local rate, burst, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local found = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(found[1] or burst)
local passed = math.max(0, now - tonumber(found[2] or now))
tokens = math.min(burst, tokens + passed * rate / 1000)
local taken = math.min(most, math.floor(tokens))
tokens = tokens - taken
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', string.format('%d', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate * 1000) + 1000)
return {taken, math.max(0, math.ceil((1 - tokens) / rate * 1000))}
"""
)

# ARGV: holder, the most places, time to live
TAKE_PLACE: Final = _script(
    _NOW
    + """
local found, taken, own = redis.call('HGETALL', KEYS[1]), 0, 0
for at = 1, #found, 2 do
  local value = found[at + 1]
  if tonumber(string.sub(value, 1, 16)) > now then
    local count = tonumber(string.sub(value, 17))
    taken = taken + count
    if found[at] == ARGV[1] then own = count end
  else
    redis.call('HDEL', KEYS[1], found[at])
  end
end
if taken >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%016d', now + ARGV[3]) .. (own + 1))
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1
"""
)

# ARGV: holder
FREE_PLACE: Final = _script("""
local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then return 0 end
local count = tonumber(string.sub(value, 17)) - 1
if count > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], string.sub(value, 1, 16) .. count)
else
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return 1
""")

# ARGV: holder, time to live
KEEP_PLACES: Final = _script(
    _NOW
    + """
local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then return 0 end
if tonumber(string.sub(value, 1, 16)) <= now then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 0
end
local count = string.sub(value, 17)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%016d', now + ARGV[2]) .. count)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return tonumber(count)
"""
)
