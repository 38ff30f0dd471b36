import { lua } from './lua.js';

/**
 * Paths. A request names each of its paths once, as a parent's index and a name, so that each directory is looked for
 * once; what was found is remembered until names move.
 */
export const RESOLVE = lua`
local paths
local found = {}

local function rootDirectory()
  local root = state.root
  if type(root) ~= 'table' then
    root = openDirectory(root, state)
    state.root = root
  end
  return root
end

local function inodeTable()
  local inodes = state.inodes
  if inodes == 0 then
    inodes = newDirectory(slotOfId('inodes'), rep('\0', 44))
    inodes.up = state
  elseif type(inodes) ~= 'table' then inodes = openDirectory(inodes, state) end
  state.inodes = inodes
  return inodes
end

-- The directory under a name whose record is at hand.
local function directoryUnder(leaf, name, record)
  local kid = leaf.kids[name]
  if kid then return kid end
  kid = openDirectory(unpack('>d', record, 18), leaf, name, storedTransform(sub(record, 26, 58)))
  leaf.kids[name] = kid
  return kid
end

-- The directory at a path, or nil.
local function directoryAt(index)
  local known = found[index]
  if known then return known end
  local directory
  if index == 0 then directory = rootDirectory()
  else
    local path = paths[index]
    local parent = directoryAt(path.parent)
    local leaf = parent and leafFor(parent, path.name)
    local record = leaf and recordOf(leaf, path.name)
    if record and byte(record) == 100 then directory = directoryUnder(leaf, path.name, record) end
  end
  found[index] = directory
  return directory
end

-- The record at a path and the leaf that holds it; nothing where the path leads nowhere. Not for the root.
local function recordAt(index)
  local path = paths[index]
  local parent = directoryAt(path.parent)
  local leaf = parent and leafFor(parent, path.name)
  local record = leaf and recordOf(leaf, path.name)
  return record, leaf, path.name, parent
end

-- A file with several names is in the table of inodes, under its node's number.
local function inodeOf(record)
  local directory = inodeTable()
  local name = idInSlot(sub(record, 70, 93))
  local leaf = leafFor(directory, name)
  local inode = leaf and recordOf(leaf, name)
  if not inode then fail('CORRUPT', 'a file with several names is not in their table') end
  return inode, leaf, name
end

-- What a file or link at a path is stored as, whether it has several names or one.
local function leafNodeAt(index)
  local record, leaf, name = recordAt(index)
  if record and byte(record) == 108 then
    local inode, inodeLeaf, inodeName = inodeOf(record)
    return inode, inodeLeaf, inodeName, true
  end
  return record, leaf, name, false
end

local function readPaths(blob, at)
  local n
  n, at = unpack('>I2', blob, at)
  paths = {}
  for i = 1, n do
    local parent, name
    parent, name, at = unpack('>I2I1c0', blob, at)
    paths[i] = { parent = parent, name = name }
  end
  return at
end
`;
