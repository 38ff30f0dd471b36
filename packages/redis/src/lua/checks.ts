import { lua } from './lua.js';

/** Whether what a batch relied on still holds. Nothing changes here. */
export const CHECKS = lua`
local function sameVersion(known, expected)
  return expected < 0 or known == expected
end

local function holdsEntry(path, id, expected)
  if path == 0 then
    local root = rootDirectory()
    return id == idInSlot(root.node) and sameVersion(root.version, expected)
  end
  local record, leaf, name = recordAt(path)
  if not record then return id == '' end
  if id == '' then return false end
  local kind = byte(record)
  if kind == 100 then
    local directory = directoryUnder(leaf, name, record)
    return id == idInSlot(directory.node) and sameVersion(directory.version, expected)
  end
  if id ~= idInSlot(sub(record, 70, 93)) then return false end
  if expected < 0 then return true end
  if kind == 108 then record = inodeOf(record) end
  return unpack('>d', record, 2) == expected
end

local function holds(kind, path, id, expected, inodes)
  if kind == 1 then return holdsEntry(path, id, expected) end
  local directory = directoryAt(path)
  if not directory or id ~= idInSlot(directory.node) then return false end
  if kind == 2 then return directory.count == 0 end
  if kind == 3 then return directory.listing == expected end
  if directory.tree ~= expected then return false end
  if directory.linked > 0 then return inodes == state.inodesVersion end
  return inodes < 0
end

-- Positions of the checks that fail, and where the writes begin.
local function failedChecks(blob, at)
  local n
  n, at = unpack('>I2', blob, at)
  local failed = {}
  for i = 1, n do
    local kind, path, id, expected, inodes
    kind, path, id, expected, inodes, at = unpack('>I1I2I1c0dd', blob, at)
    if not holds(kind, path, id, expected, inodes) then failed[#failed + 1] = i - 1 end
  end
  return failed, at
end
`;
