import { DIRECTORY_AT } from '../layout.js';
import { lua } from '../lua.js';

/**
 * Read access for scripts that change nothing: objects are read in their stored form. A view is a directory object with
 * its transform.
 */
export const VIEWS = lua`
local views = {}

-- Nothing is written by these scripts, so objects that were read are cached, and they keep their checks.
objects.keepChecks = true
local read = objects.get
function objects.get(id)
  local value = objects.fresh[id]
  if not value then
    value = read(id)
    objects.fresh[id] = value
  end
  return value
end

function views.open(ref, transform)
  local value = objects.of(68, ref)
  local root, n = struct.unpack('>dI4', value, ${DIRECTORY_AT.root})
  local inner = objects.compose(objects.storedTransform(value:sub(${DIRECTORY_AT.transform}, ${DIRECTORY_AT.transform + 32})), transform)
  return { value = value, transform = transform, root = root, n = n, inner = inner, buckets = {} }
end

-- Returns a bucket by its index, or false if it is empty: its bytes, the position of its first record, and its
-- transform.
function views.bucket(view, at)
  local bucket = view.buckets[at]
  if bucket == nil then
    local ref, transform = objects.element(view.root, view.inner, view.n, at)
    bucket = false
    if ref ~= 0 then
      local value = objects.of(76, ref)
      bucket = { value = value, first = 16 + struct.unpack('>I4', value, 12), transform = transform }
    end
    view.buckets[at] = bucket
  end
  return bucket
end

-- Returns the bucket that contains a name, and the position of its record.
function views.find(view, name)
  local bucket = views.bucket(view, objects.bucketOf(name, view.n))
  local index = bucket and objects.indexOf(bucket.value, name, 16, bucket.first - 1)
  if not index then return nil end
  local from = bucket.first + STRIDE * index
  if not recordAt(bucket.value, from, name) then objects.fail('CORRUPT', 'the record of a name is damaged') end
  return bucket, from
end
`;
