import { lua } from '../lua.js';

/**
 * Resolves the paths of a request. Each is given as its parent's index and a name. Index 0 is the root. Directories
 * that were looked up are cached until names change.
 */
export const PATHS_IN_TREE = lua`
local paths = { found = {} }

function paths.root()
  local root = now.state.root
  if type(root) ~= 'table' then
    root = nodes.openDirectory(root, now.state)
    now.state.root = root
  end
  return root
end

-- Returns the directory of a record.
function paths.under(leaf, name, record)
  local kid = leaf.kids[name]
  if kid then return kid end
  local transform = objects.storedTransform(record:sub(26, 58))
  kid = nodes.openDirectory(struct.unpack('>d', record, 18), leaf, name, transform)
  leaf.kids[name] = kid
  return kid
end

-- Returns the directory at a path, or nil.
function paths.directory(index)
  local known = paths.found[index]
  if known then return known end
  local directory
  if index == 0 then directory = paths.root()
  else
    local record, leaf, name = paths.record(index)
    if record and record:byte() == 100 then directory = paths.under(leaf, name, record) end
  end
  paths.found[index] = directory
  return directory
end

-- Returns the record at a path, its bucket, name and directory. The record is nil if the path does not exist. Not for the root.
function paths.record(index)
  local name = paths.names[index]
  local parent = paths.directory(paths.parents[index])
  local leaf = parent and nodes.leafFor(parent, name)
  local record = leaf and nodes.recordOf(leaf, name)
  return record, leaf, name, parent
end

function paths.inodes()
  local inodes = now.state.inodes
  if inodes == 0 then
    inodes = nodes.newDirectory(objects.slotOfId('inodes'), ('\0'):rep(44))
    inodes.up = now.state
  elseif type(inodes) ~= 'table' then inodes = nodes.openDirectory(inodes, now.state) end
  now.state.inodes = inodes
  return inodes
end

-- Returns the inode of a file with several names. It is in the table of inodes, under its node id.
function paths.inode(record)
  local name = objects.idInSlot(record:sub(70, 93))
  local leaf = nodes.leafFor(paths.inodes(), name)
  local inode = leaf and nodes.recordOf(leaf, name)
  if not inode then objects.fail('CORRUPT', 'a file with several names is not in their table') end
  return inode, leaf, name
end

-- Returns the record of a file or symbolic link, its bucket and name. If it has several names, these are its inode's,
-- and true follows.
function paths.leafNode(index)
  local record, leaf, name = paths.record(index)
  if record and record:byte() == 108 then
    local inode, inodeLeaf, inodeName = paths.inode(record)
    return inode, inodeLeaf, inodeName, true
  end
  return record, leaf, name, false
end
`;
