import { lua } from '../lua.js';

/**
 * File contents: an array of chunks of 64 KiB. A chunk has segments, of which each overwrites those before it; one
 * without bytes truncates the chunk at its offset. Each begins with a digest of the rest of it. Bytes that were never
 * written are zeros.
 */
export const CONTENTS = lua`
local MAX_SEGMENTS = 16

function contents.chunksOf(size)
  return math.floor((size + CHUNK - 1) / CHUNK)
end

function contents.segment(offset, bytes)
  local rest = struct.pack('>I4I4', offset, #bytes) .. bytes
  return redis.sha1hex(rest):sub(1, 16) .. rest
end

-- Completes a chunk that a client sent to its stored form.
function contents.numbered(piece, id)
  if piece:byte() == 66 then return piece end
  return piece .. struct.pack('>d', id)
end

-- Applies the segments of a chunk.
function contents.replay(body)
  local data, at = '', 2
  while at <= #body do
    local offset, length = struct.unpack('>I4I4', body, at + 16)
    -- A new digest must not cover damage.
    if redis.sha1hex(body:sub(at + 16, at + 23 + length)):sub(1, 16) ~= body:sub(at, at + 15) then
      objects.fail('CORRUPT', 'a piece of content is damaged')
    end
    at = at + 24
    if length == 0 then data = data:sub(1, offset)
    else
      if #data < offset then data = data .. ('\0'):rep(offset - #data) end
      data = data:sub(1, offset) .. body:sub(at, at + length - 1) .. data:sub(offset + length + 1)
      at = at + length
    end
  end
  return data
end

function contents.addSegment(chunk, segment)
  local body = chunk.body
  local count = body:byte() + 1
  body = string.char(count) .. body:sub(2) .. segment
  if count >= MAX_SEGMENTS or #body > 2 * CHUNK then
    local data = contents.replay(body)
    body = #data == 0 and '\0' or '\1' .. contents.segment(0, data)
  end
  chunk.body = body
end

-- Returns the file of a record whose content is about to change.
function contents.fileAt(leaf, name, record)
  local kid = leaf.kids[name]
  if kid then return kid end
  local size, root = struct.unpack('>dd', record, 10)
  kid = { k = 'F', up = leaf, name = name, own = leaf.own, size = size, root = root }
  leaf.kids[name] = kid
  return kid
end

function contents.resize(file, size)
  local old = file.size
  local before, after = contents.chunksOf(old), contents.chunksOf(size)
  nodes.claim(file)
  if before ~= after then nodes.rare().resize(file, before, after) end
  if size < old and size % CHUNK > 0 then
    local up, slot = nodes.seat(file, after, after - 1)
    local chunk = up and nodes.open(up, slot, 67)
    if chunk then
      nodes.claim(chunk)
      contents.addSegment(chunk, contents.segment(size % CHUNK, ''))
    end
  end
  file.size = size
end

-- Writes a piece within chunk i, which was sent as a chunk of one segment. valid is the number of bytes that the chunk had.
function contents.write(file, i, offset, piece, valid)
  local up, slot = nodes.seat(file, contents.chunksOf(file.size), i, true)
  local ref = up.root
  if up.k == 'A' then ref = up.kids[slot] or objects.slotOfPage(up.value, slot) end
  local isWhole = offset == 0 and objects.lengthOf(piece) >= valid
  if isWhole and type(ref) ~= 'table' then
    -- The old content is replaced completely and need not be read.
    local id = ref
    if ref == 0 or not up.own or nodes.isShared(ref) then
      id = nodes.newId()
      nodes.setSlot(up, slot, id)
    end
    objects.fresh[id] = contents.numbered(piece, id)
    return
  end
  local chunk = nodes.open(up, slot, 67)
  if not chunk then chunk = nodes.create('C', up, slot, {}) end
  nodes.claim(chunk)
  if isWhole or not chunk.body then chunk.body = piece:sub(2)
  else contents.addSegment(chunk, piece:sub(3)) end
end
`;
