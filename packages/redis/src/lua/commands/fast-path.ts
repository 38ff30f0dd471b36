import { CHUNK_OVERHEAD, DIRECTORY_AT, NODE_BYTES, RECORD_FIELD } from '../layout.js';
import { lua } from '../lua.js';

/**
 * The fast path of a commit, for the most frequent requests: each batch creates one small file or replaces the content
 * of one, and no object on the path to it is shared or has a transform. Objects are changed in their stored form, with
 * the same bytes as the general path would write. Redis then need not create the functions of the general path. These
 * are two functions only, because each further closure costs its captures in every run. Nothing is written before
 * everything is checked.
 *
 * A batch with a failed check of a name is refused here. For a request with anything else, such as a batch that may
 * exceed a limit, `fastPath` returns nothing and the general path runs.
 */
export const FAST_PATH = lua`
-- Verifies all names and references that lead to a path.
local function isWholeWay(path, buckets, indexes)
  while path > 0 do
    local bucket = buckets[path]
    local directory = bucket.directory
    path = directory.path
    if not bucket.isWhole then
      if redis.sha1hex(bucket.value:sub(1, bucket.first - 1)):sub(1, 8) ~= bucket.value:sub(-8) then return false end
      for _, page in ipairs(bucket.pages) do
        if checkOf(page:sub(1, -9)) ~= page:sub(-8) then return false end
      end
      bucket.isWhole = true
    end
    if directory.isWhole then return true end
    if checkOf(directory.value) ~= directory.value:sub(-8) then return false end
    local up = buckets[path]
    if up and not recordAt(up.value, up.first + STRIDE * indexes[path], names[path]) then return false end
    directory.isWhole = true
  end
  return true
end

local function fastPath()
  -- By path: its directory if it is the parent of others, the bucket that its name belongs to, and the name's position
  -- there.
  local directories, buckets, indexes = {}, {}, {}
  -- By number the objects on the paths, as the batches so far leave them; chunks are the contents to write. way has the
  -- numbers on the paths, needed only if any object of the filesystem is shared; outdated has the fields of digests to
  -- delete.
  local pages, opened, chunks, way, outdated = {}, {}, {}, {}, {}

  for path = 1, #names do
    local parent, name = parents[path], names[path]
    local directory = directories[parent]
    if not directory then
      local ref, up
      if parent == 0 then ref = struct.unpack('>d', head[3])
      else
        local index = indexes[parent]
        if not index then return end
        up = buckets[parent]
        local kind, _, transform
        kind, _, _, ref, transform = struct.unpack('>BdddB', up.value, up.first + STRIDE * index)
        if kind ~= 100 or transform ~= 0 then return end
        up = up.directory
      end
      local value = redis.call('HGET', KEYS[2], ref)
      if not value or value:byte() ~= 68 then return end
      local number, version, listing, tree, count, size, files, nested, linked, root, n, transform =
        struct.unpack('>ddddddddddI4B', value, 2)
      if number ~= ref or transform ~= 0 then return end
      if further > 0 then way[#way + 1] = ref end
      directory = {
        ref = ref, value = value, path = parent, up = up, version = version, listing = listing, tree = tree, count = count, size = size,
        files = files, nested = nested, root = root, n = n, time = false, isChanged = false,
      }
      directories[parent] = directory
    end

    -- Finds the bucket as objects.bucketOf and objects.element do.
    local ref, n, i, span, seen = directory.root, directory.n, 0, 0, {}
    if n > 1 then
      local half = 1
      while half * 2 <= n do half = half * 2 end
      i, span = hashes[name] % (half * 2), 1
      if i >= n then i = i - half end
      while span * FANOUT < n do span = span * FANOUT end
    end
    while span >= 1 do
      local page = pages[ref]
      if not page then
        page = redis.call('HGET', KEYS[2], ref)
        if not page or page:byte() ~= 65 or struct.unpack('>d', page, 2) ~= ref then return end
        if further > 0 then way[#way + 1] = ref end
        pages[ref] = page
      end
      local at, transform = 11 + 33 * page:byte(10) + 9 * math.floor(i / span), nil
      if at > #page - 16 then return end
      seen[#seen + 1] = page
      transform, ref = struct.unpack('>Bd', page, at)
      if transform > 0 or ref == 0 then return end
      i, span = i % span, span / FANOUT
    end
    if ref == 0 then return end
    local bucket = opened[ref]
    if not bucket then
      local value = redis.call('HGET', KEYS[2], ref)
      if not value or value:byte() ~= 76 then return end
      local number, count, length = struct.unpack('>dI2I4', value, 2)
      if number ~= ref then return end
      if further > 0 then way[#way + 1] = ref end
      bucket = {
        value = value, before = count, count = count, first = 16 + length, directory = directory, pages = seen,
        others = {}, added = '',
      }
      opened[ref] = bucket
    end
    buckets[path] = bucket
    -- Finds the name as objects.indexOf does.
    local value, last, at = bucket.value, bucket.first - 1, 16
    local sought = name .. '/'
    repeat at = value:find(sought, at + 1, true) until not at or at > last or value:byte(at - 1) == 0
    if at and at <= last then
      local index, zero = 0, 16
      while zero < at - 1 do index, zero = index + 1, value:find('\0', zero + 1, true) end
      indexes[path] = index
    end
  end

  local root, linkedSize = directories[0], struct.unpack('>d', head[3], 17)
  if not root then return end
  local drawn, spent = 0, 0
  for i = 1, n do
    local seq = numbers[i]
    local answer = storedResult(seq)
    if not answer then
      local _, maxSize, maxNodes, fixed, checks, at = struct.unpack('>ddddI2', blob, begins[i])
      local failed, identified = '', nil
      for k = 1, checks do
        local kind, path, id, expected
        kind, path, id, expected, _, at = struct.unpack('>BI2Bc0dd', blob, at)
        if kind ~= 1 then return end
        local directory, index, holds = directories[path], indexes[path], nil
        if directory then
          holds = struct.unpack('Bc0', directory.value, ${DIRECTORY_AT.node}) == id
            and (expected < 0 or directory.version == expected)
        elseif index then
          local bucket = buckets[path]
          local value, from = bucket.others[index], 1
          if not value then value, from = bucket.value, bucket.first + STRIDE * index end
          local version
          kind, version = struct.unpack('>Bd', value, from)
          if kind ~= 102 and kind ~= 115 then return end
          holds = struct.unpack('Bc0', value, from + ${RECORD_FIELD.node}) == id and (expected < 0 or version == expected)
          identified = path
        else holds = id == '' end
        if not holds then failed = failed .. ' ' .. k - 1 end
      end
      if failed ~= '' then answer = 'c' .. failed
      else
        -- The general path runs read-only batches and staged commits.
        if blob:byte(at) ~= 1 then return end
        if limits and blob:sub(begins[i], begins[i] + 23) ~= limits then return end
        local growth, more, sizes
        growth, more, sizes, at = struct.unpack('>ddI2', blob, at + 1)
        -- The general path decides whether a file exceeds the limit.
        if sizes > 0 then return end

        -- Accepts one write of a content of one chunk, and before it a touch of its directory.
        local count, kind, path, time, meta, id
        count, kind, path, at = struct.unpack('>I2BI2', blob, at)
        if kind == 8 then
          -- A batch may consist of the touch alone.
          if count ~= 2 then return end
          local touched = path
          time, kind, path, at = struct.unpack('>dBI2', blob, at)
          if touched ~= parents[path] then return end
        elseif count ~= 1 then return end
        if kind == 6 then meta, at = struct.unpack('>c44', blob, at)
        elseif kind == 1 then
          kind, meta, id, at = struct.unpack('>Bc44Bc0', blob, at)
          if kind ~= 102 then return end
        else return end
        local size, staged, _, _, pieces, from = struct.unpack('>dBc0ddI4', blob, at)
        if staged ~= '' or pieces ~= 1 or size > CHUNK then return end
        local _, offset, position = struct.unpack('>I4I4I4', blob, from)
        local bytes = ARGV[BEFORE_CONTENTS + position]
        if offset > 0 or #bytes - ${CHUNK_OVERHEAD} < size then return end

        local bucket, index = buckets[path], indexes[path]
        local directory, old, chunk, slot = bucket.directory, 0, 0, nil
        if id then
          if index or directory.count + 1 > directory.n * GROW then return end
          slot = string.char(#id) .. id .. ('\0'):rep(23 - #id)
        else
          if not index then return end
          local value, from = bucket.others[index], 1
          if not value then value, from = bucket.value, bucket.first + STRIDE * index end
          kind, _, old, chunk = struct.unpack('>Bddd', value, from)
          if kind ~= 102 or old > CHUNK then return end
          if value == bucket.value and not recordAt(value, from, names[path]) then return end
          slot = value:sub(from + ${RECORD_FIELD.node}, from + ${RECORD_FIELD.node + NODE_BYTES - 1})
          if further > 0 and chunk > 0 and not chunks[chunk] then way[#way + 1] = chunk end
        end
        if maxSize >= 0 and root.size + linkedSize + growth > maxSize then return end
        if maxNodes >= 0 and root.files + root.nested + more > maxNodes then return end

        -- A file with the expected id is the right one however it was found.
        if (id or time or identified ~= path) and not isWholeWay(path, buckets, indexes) then return end
        local version = fixed
        if version == 0 then
          drawn = drawn + 1
          version = counter + drawn
        end
        if chunk == 0 then
          drawn, spent = drawn + 1, spent + 1
          chunk = counter + drawn
        end
        chunks[chunk] = bytes
        if old >= LARGE and bytes:byte() == 67 then outdated[#outdated + 1] = digestField(chunk) end
        if id then
          index = bucket.count
          indexes[path], bucket.count, bucket.added = index, index + 1, bucket.added .. '\0' .. names[path] .. '/'
          directory.count, directory.listing = directory.count + 1, version
        end
        local record = struct.pack('>Bdddc44c24', 102, version, size, chunk, meta, slot)
        bucket.others[index] = record .. recordCheck(bucket.value:sub(2, 9), names[path], record)
        if time then directory.version, directory.time = version, time end
        while directory do
          directory.tree, directory.isChanged = version, true
          directory.size, directory.files = directory.size + size - old, directory.files + (id and 1 or 0)
          directory = directory.up
        end
        answer = 'o ' .. decimal(version)
      end
      if seq > 0 then results[#results + 1], results[#results + 2] = seq, answer end
    end
    answers[i] = answer
  end

  if further > 0 then
    local shared
    inHundreds(way, function(...)
      for _, one in ipairs(redis.call('HMGET', KEYS[3], ...)) do shared = shared or one end
    end)
    if shared then return end
  end

  local fields = {}
  for ref, bucket in pairs(opened) do
    -- Builds the bucket with its changed records in one step, because each intermediate string costs its length.
    local value, first, before, others = bucket.value, bucket.first, bucket.before, bucket.others
    if next(others) then
      local pieces, from = {}, 1
      if bucket.count > before then
        local length = first - 16 + #bucket.added
        pieces = { value:sub(1, 9), struct.pack('>I2I4', bucket.count, length), value:sub(16, first - 1), bucket.added }
        from = first
      end
      for index = 0, bucket.count - 1 do
        local other = others[index]
        if other then
          local at = first + STRIDE * math.min(index, before)
          if at > from then pieces[#pieces + 1] = value:sub(from, at - 1) end
          pieces[#pieces + 1] = other
          from = at + STRIDE
        end
      end
      if bucket.count > before then
        pieces[#pieces + 1] = value:sub(from, -9)
        pieces[#pieces + 1] = redis.sha1hex(table.concat(pieces, '', 1, 4)):sub(1, 8)
      else pieces[#pieces + 1] = value:sub(from) end
      fields[#fields + 1], fields[#fields + 2] = ref, table.concat(pieces)
    end
  end
  local digests = {}
  for ref, value in pairs(chunks) do
    if value:byte() == 66 then digests[#digests + 1], digests[#digests + 2] = digestField(ref), value:sub(3, 18)
    else value = value .. struct.pack('>d', ref) end
    fields[#fields + 1], fields[#fields + 2] = ref, value
  end
  if #fields > 0 then
    for _, x in pairs(directories) do
      if x.isChanged then
        local times = x.time and struct.pack('>d', x.time):rep(2) or x.value:sub(${DIRECTORY_AT.mtime}, ${DIRECTORY_AT.birthtime - 1})
        local object = struct.pack('>c9ddddddc0c16c0', x.value, x.version, x.listing, x.tree, x.count, x.size, x.files,
          x.value:sub(${DIRECTORY_AT.directories}, ${DIRECTORY_AT.mtime - 1}), times, x.value:sub(${DIRECTORY_AT.birthtime}))
        if x.time then object = object:sub(1, ${DIRECTORY_AT.end}) .. checkOf(object) end
        fields[#fields + 1], fields[#fields + 2] = x.ref, object
      end
    end
    for i = 2, #fields, 2 do spent = spent + 5 + #fields[i] / 512 end
    inHundreds(fields, function(...) redis.call('HSET', KEYS[2], ...) end)
    if #outdated > 0 then inHundreds(outdated, function(...) redis.call('HDEL', KEYS[2], ...) end) end
    if #digests > 0 then inHundreds(digests, function(...) redis.call('HSET', KEYS[2], ...) end) end
    counter = counter + drawn
    redis.call('HSET', KEYS[1], 'n', counter)
  end
  if #results > 0 or settled ~= '' or renewsResults == 1 then storeResults(results, #fields == 0) end
  return commitReply(spent)
end

if fitsFastPath == 1 and not watched and not head[5] then
  local answer = fastPath()
  if answer then return answer end
end
`;
