-- Note that a player was here and, where asked, change the name.
--
-- KEYS[1]  player:{ID}         hash    name, token_hash, created_ms, seen_ms
-- ARGV[1]  now, in ms
-- ARGV[2]  time to live from now, in ms
-- ARGV[3]  new name, or "" to leave it
-- returns  1 done; 0 there is no such player
--
-- A player that expired meanwhile is not brought back half.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'seen_ms', ARGV[1])
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'name', ARGV[3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
