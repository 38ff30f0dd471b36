import { lua } from './lua.js';

/**
 * What a commit is asked, as far as it is known without a look at the tree. `ARGV[7]` is a group of batches after the
 * paths that they name: each path once, as a parent's index, a name and its hash, index 0 being the root. `ARGV[8]` is 1 for who
 * holds the lock, `ARGV[9]` 1 where all that they do is remove. `ARGV[10]` has what those who watch are told, batch by
 * batch; without it, where somebody watches, nothing happens. After it come the pieces of contents, as chunks of one segment.
 */
export const REQUEST = lua`
if isLocked() and ARGV[8] ~= '1' then return { 'W' } end
local watched = isWatched()
if watched and ARGV[10] == '' then return { 'N' } end
local blob, parents, names = ARGV[7], {}, {}
local n, at = struct.unpack('>I2', blob, objects.readPaths(blob, parents, names))
-- The batches: each one's number, and where it begins.
local numbers, begins = {}, {}
for i = 1, n do
  local length
  numbers[i], length, at = struct.unpack('>dI4', blob, at)
  begins[i], at = at, at + 32 + length
end
if not known(numbers) then return { 'F' } end
-- What removes must not be refused by a server without memory left.
if ARGV[9] == '1' then keepResults() end
-- A key of the wrong kind must be found before anything is written.
local further = redis.call('HLEN', KEYS[3])
local waiting = redis.call('LLEN', KEYS[4])
local answers, results = { 'K', 0, 0, '' }, {}

-- Runs each batch that has no result yet, from where its limits are; whether all have an answer this way.
local function answerAll(run)
  results = {}
  for i = 1, n do
    local seq = numbers[i]
    local answer = answered(seq)
    if not answer then
      answer = run(begins[i], i)
      if not answer then return false end
      if seq > 0 then
        results[#results + 1] = seq
        results[#results + 1] = answer
      end
    end
    answers[i + 4] = answer
  end
  return true
end

local function finished(spent)
  keepAlive()
  answers[2], answers[3] = shown(counter), waiting .. ' ' .. math.ceil(spent)
  return answers
end
`;
