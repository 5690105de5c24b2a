-- Append events to the logs of one or many rooms, each append guarded by its lease.
--
-- KEYS     for each append, in the order of the appends (a room may come more than once):
--            room:{CODE}:lease   hash    node, epoch, address
--            room:{CODE}:log     stream  one entry an event, id <version>-0, field e
--            room:{CODE}:timers  hash    player -> opaque; only where t > 0 or renew
--            room:{CODE}:meta    hash    opaque; only where m > 0 or renew
-- ARGV[1]  node that appends
-- ARGV     for each append, one after the other:
--            epoch of the lease
--            version of the first event (from 1)
--            time to live of the room's keys, in ms
--            renew: "1" to begin that time to live anew, "0" to leave it
--            e, then e events
--            t, then t strings: fields and values of the timers (t is even)
--            m, then m strings: fields and values of the meta (m is even)
-- returns  one reply an append: 1 stored; 0 fenced (the lease is not this node's, or has another
--          epoch); -1 conflict (the log does not end just before the first version); a string:
--          the error that Redis gave for this append alone
--
-- An append is refused whole or stored whole. The lease outlives the log by LEASE_MARGIN_MS, so
-- that an epoch never starts again under a log that is still there. Keys that need not be
-- touched are not passed: while a Cluster moves a slot, it refuses calls on keys of which some
-- exist and some don't.

local LEASE_MARGIN_MS = 60000

local call = redis.call
local node = ARGV[1]

local function set_fields(key, first, last, ttl_ms)
  if last >= first and call('HSET', key, unpack(ARGV, first, last)) > 0 then
    call('PEXPIRE', key, ttl_ms)
  end
end

local function append(room, at, timers_at, meta_at, meta_end)
  local held = call('HMGET', room.lease, 'node', 'epoch')
  if held[1] ~= node or held[2] ~= ARGV[at] then
    return 0
  end
  local log, version, ttl_ms = room.log, tonumber(ARGV[at + 1]), ARGV[at + 2]
  if call('XLEN', log) ~= version - 1 then
    return -1
  end
  for i = at + 5, timers_at - 1 do
    call('XADD', log, version .. '-0', 'e', ARGV[i])
    version = version + 1
  end
  if room.timers then
    set_fields(room.timers, timers_at + 1, meta_at - 1, ttl_ms)
  end
  if room.meta then
    set_fields(room.meta, meta_at + 1, meta_end, ttl_ms)
  end
  if room.renew then
    call('PEXPIRE', room.lease, tonumber(ttl_ms) + LEASE_MARGIN_MS)
    call('PEXPIRE', log, ttl_ms)
    call('PEXPIRE', room.timers, ttl_ms)
    call('PEXPIRE', room.meta, ttl_ms)
  end
  return 1
end

local function message_of(failure)
  if type(failure) == 'table' then
    return failure.err
  end
  return tostring(failure)
end

local replies = {}
local key, at = 1, 2
local room = {}
while at <= #ARGV do
  local timers_at = at + 5 + tonumber(ARGV[at + 4])
  local meta_at = timers_at + 1 + tonumber(ARGV[timers_at])
  local meta_end = meta_at + tonumber(ARGV[meta_at])
  room.renew = ARGV[at + 3] == '1'
  room.lease, room.log, room.timers, room.meta = KEYS[key], KEYS[key + 1], nil, nil
  key = key + 2
  if room.renew or meta_at > timers_at + 1 then
    room.timers = KEYS[key]
    key = key + 1
  end
  if room.renew or meta_end > meta_at then
    room.meta = KEYS[key]
    key = key + 1
  end
  local ok, reply = pcall(append, room, at, timers_at, meta_at, meta_end)
  replies[#replies + 1] = ok and reply or message_of(reply)
  at = meta_end + 1
end
return replies
