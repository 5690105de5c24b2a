-- Note that a player is here on another day, or change the name.
--
-- KEYS[1]  player:{ID}         hash    name, token_hash, created_ms, seen_ms
-- ARGV[1]  now, in ms, or "" to leave when the player was last seen
-- ARGV[2]  time to live from now, in ms, where ARGV[1] is not ""
-- ARGV[3]  new name, or "" to leave it
-- returns  1 done; 0 there is no such player
--
-- A player that expired meanwhile is not brought back half.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
if ARGV[1] ~= '' then
  redis.call('HSET', KEYS[1], 'seen_ms', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'name', ARGV[3])
end
return 1
