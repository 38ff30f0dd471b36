import { lua } from '../lua.js';

/**
 * What a commit is asked, as far as it is known without a look at the tree. The body is a group of batches after the
 * paths that they name: each path once, as a parent's index, a name and its hash, index 0 being the root. After `ARGV[1]` come the pieces of
 * contents, as chunks of one segment, and at the end what those who watch are told, batch by batch; without that, where somebody
 * watches, nothing happens.
 */
export const COMMIT_REQUEST = lua`
if isLocked() and holdsLock == 0 then return { 'W' } end
local watched = isWatched()
if watched and hasNews == 0 then return { 'N' } end
-- Arguments before the contents.
local BEFORE_CONTENTS = 1
local n, at = struct.unpack('>I2', blob, pathsEnd)
-- The batches: each one's number, and where it begins.
local numbers, begins = {}, {}
for i = 1, n do
  local length
  numbers[i], length, at = struct.unpack('>dI4', blob, at)
  begins[i], at = at, at + 32 + length
end
if not known(numbers) then return { 'F' } end
-- What removes must not be refused by a server without memory left.
if removes == 1 then keepResults() end
-- A key of the wrong kind must be found before anything is written.
local further = redis.call('HLEN', KEYS[3])
local waiting = redis.call('LLEN', KEYS[4])
local answers, results = {}, {}

-- What a request answers, all in one text: after the counter a line with how many objects wait to be freed, what it has cost, and the
-- number of what watchers were told, '0' where there was nothing, '-' where nobody watches; then one for what became of each batch.
local function finished(spent, told)
  keepAlive()
  local beside = waiting .. ' ' .. math.ceil(spent) .. ' ' .. (told or '-')
  return 'K\n' .. shown(counter) .. '\n' .. beside .. '\n' .. table.concat(answers, '\n')
end
`;
