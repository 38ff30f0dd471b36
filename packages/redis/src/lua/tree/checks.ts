import { lua } from '../lua.js';

/** Evaluates the checks of a batch. Changes nothing. */
export const CHECKS = lua`
local checks = {}

function checks.entry(path, id, expected)
  local node, version
  if path == 0 then
    local root = paths.root()
    node, version = root.node, root.version
  else
    local record, leaf, name = paths.record(path)
    if not record then return id == '' end
    local kind = record:byte()
    if kind == 100 then
      local directory = paths.under(leaf, name, record)
      node, version = directory.node, directory.version
    else
      node = record:sub(70, 93)
      if kind == 108 and expected >= 0 then record = paths.inode(record) end
      version = struct.unpack('>d', record, 2)
    end
  end
  return id == objects.idInSlot(node) and (expected < 0 or version == expected)
end

function checks.holds(kind, path, id, expected, inodes)
  if kind == 1 then return checks.entry(path, id, expected) end
  local directory = paths.directory(path)
  if not directory or id ~= objects.idInSlot(directory.node) then return false end
  if kind == 2 then return directory.count == 0 end
  if kind == 3 then return directory.listing == expected end
  if directory.tree ~= expected then return false end
  if directory.linked > 0 then return inodes == now.state.inodesVersion end
  return inodes < 0
end

-- Returns the positions of the checks that fail, and the position of the writes.
function checks.failed(blob, at)
  local n
  n, at = struct.unpack('>I2', blob, at)
  local failed = {}
  for i = 1, n do
    local kind, path, id, expected, inodes
    kind, path, id, expected, inodes, at = struct.unpack('>I1I2I1c0dd', blob, at)
    if not checks.holds(kind, path, id, expected, inodes) then failed[#failed + 1] = i - 1 end
  end
  return failed, at
end
`;
