import { lua } from './lua.js';

/**
 * How every script begins: is this the filesystem that the client knows, and has it not gone back in time? `ARGV[1]`
 * begins with what the request says of itself (`format/header.ts`).
 */
export const PREAMBLE = lua`
local seen, ttl, floor, holdsLock, removes, isSmall, hasNews, keepsResults, token, field, settled, body =
  struct.unpack('>dddBBBBBBc0I2c0I2c0', ARGV[1])
local head = redis.call('HMGET', KEYS[1], 't', 'n', field, 'x/' .. field, 'a')
if head[1] ~= token then return { 'E', head[1] or '' } end
local counter = tonumber(head[2])
if counter < seen then return { 'B' } end
if not head[3] then return { 'G' } end

local function shown(number)
  return ('%.0f'):format(number)
end

local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Whether a large commit holds the state for itself, for a moment.
local function isLocked()
  return head[4] and tonumber(head[4]) > milliseconds()
end

-- Whether somebody watches the filesystem: until when, those who do say again and again. Forks are nobody else's.
local function isWatched()
  return field == 's' and head[5] and tonumber(head[5]) > milliseconds()
end

local function keepAlive()
  if ttl > 0 then
    for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], ttl) end
  end
end
`;
