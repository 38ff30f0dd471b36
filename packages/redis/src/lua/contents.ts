import { lua } from './lua.js';

/**
 * Contents: an array of chunks of 64 KiB. A chunk is a number of segments, written one over the other; a segment
 * without bytes cuts what is beyond its offset. Each has its length and its digest. Bytes that nothing was written to
 * are zeros.
 */
export const CONTENTS = lua`
local SEGMENT = '>I4I4c16'
local MAX_SEGMENTS = 16
local NO_DIGEST = rep('0', 16)

local function chunksOf(size)
  return floor((size + CHUNK - 1) / CHUNK)
end

-- What the segments of a chunk amount to.
local function replay(body)
  local data, at = '', 2
  while at <= #body do
    local offset, length = unpack('>I4I4', body, at)
    at = at + 24
    if length == 0 then data = sub(data, 1, offset)
    else
      if #data < offset then data = data .. rep('\0', offset - #data) end
      data = sub(data, 1, offset) .. sub(body, at, at + length - 1) .. sub(data, offset + length + 1)
      at = at + length
    end
  end
  return data
end

local function oneSegment(offset, bytes, digest)
  return '\1' .. pack(SEGMENT, offset, #bytes, digest) .. bytes
end

local function addSegment(chunk, offset, bytes, digest)
  local body = chunk.body
  local count = byte(body)
  body = string.char(count + 1) .. sub(body, 2) .. pack(SEGMENT, offset, #bytes, digest) .. bytes
  if count + 1 >= MAX_SEGMENTS or #body > 2 * CHUNK then
    local data = replay(body)
    body = #data == 0 and '\0' or oneSegment(0, data, sub(sha1(data), 1, 16))
  end
  chunk.body = body
end

-- A file whose content is about to change.
local function fileAt(leaf, name, record)
  local kid = leaf.kids[name]
  if kid then return kid end
  local size, root = unpack('>dd', record, 10)
  kid = { k = 'F', up = leaf, name = name, own = leaf.own, size = size, root = root }
  leaf.kids[name] = kid
  return kid
end

local function resizeFile(file, size)
  local old = file.size
  local n = chunksOf(size)
  claim(file)
  if chunksOf(old) ~= n then resize(file, chunksOf(old), n) end
  if size < old and size % CHUNK > 0 then
    local up, slot = seat(file, n, n - 1)
    local chunk = up and open(up, slot, 67)
    if chunk then
      claim(chunk)
      addSegment(chunk, size % CHUNK, '', NO_DIGEST)
    end
  end
  file.size = size
end

-- Bytes within chunk i, which had so many of its own before.
local function writePiece(file, i, offset, bytes, digest, valid)
  local up, slot = seat(file, chunksOf(file.size), i, true)
  local isWhole = offset == 0 and #bytes >= valid
  local ref = up.root
  if up.k == 'A' then ref = up.refs[slot] end
  if isWhole and type(ref) ~= 'table' and ref ~= nil and ref ~= 0 then
    -- Its old content is of no interest: it need not be read.
    local chunk = { k = 'C', id = ref, up = up, slot = slot, own = isOwn(up, ref) }
    if up.k == 'A' then up.refs[slot] = chunk else up.root = chunk end
    claim(chunk)
    chunk.body = oneSegment(offset, bytes, digest)
    return
  end
  local chunk = open(up, slot, 67)
  if not chunk then
    create('C', up, slot, { body = oneSegment(offset, bytes, digest) })
    return
  end
  claim(chunk)
  if isWhole then chunk.body = oneSegment(offset, bytes, digest) else addSegment(chunk, offset, bytes, digest) end
end
`;
