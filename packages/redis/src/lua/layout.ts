import { lua } from './lua.js';

/** Sizes of what is stored, as `format/` describes it, and what all that reads or writes it has in common. */
export const LAYOUT = lua`
local DIRECTORY = '>c1ddddddddddI4c33c44c24'
-- A bucket holds some dozen names (GROW).
local RECORD, CHUNK, FANOUT, GROW = 93, 65536, 128, 12
-- Of names, the first 32 bits of their SHA-1, as far as they are known.
local hashes = {}

local function inHundreds(list, callback)
  for i = 1, #list, 100 do callback(unpack(list, i, math.min(i + 99, #list))) end
end
`;

/** The paths of a request, at the beginning of its body: each one's parent and name, 0 being the root. */
export const REQUEST_PATHS = lua`
local blob, parents, names = ARGV[1], {}, {}
-- Where they end.
local pathsEnd
do
  local n, at = struct.unpack('>I2', blob, body)
  for i = 1, n do
    local name, hash
    parents[i], name, hash, at = struct.unpack('>I2Bc0I4', blob, at)
    names[i], hashes[name] = name, hash
  end
  pathsEnd = at
end
`;
