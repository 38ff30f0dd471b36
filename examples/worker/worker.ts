import { createFileSystem, type FsErrorCode, isFsError, type SyncFileSystem } from 'scratchfs';
import { createSnapshot, restoreSnapshot } from 'scratchfs/snapshot';

/** The used part of an R2 bucket. */
interface Bucket {
  get(key: string): Promise<{ readonly etag: string; arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(
    key: string,
    value: Uint8Array,
    options: { onlyIf: { etagMatches?: string; etagDoesNotMatch?: string } },
  ): Promise<object | null>;
}

interface Environment {
  readonly AGENTS: Bucket;
}

const LIMITS = { maxTotalSize: 1_000_000, maxNodeCount: 1_000 };
const TRIES = 5;
const STATUS: Partial<Record<FsErrorCode, number>> = { ENOENT: 404, ENOSPC: 507, EFBIG: 507 };

/**
 * `GET PUT DELETE /<agent>/<path>`: an agent's files, kept between requests as one snapshot in a bucket. A request
 * restores it, works in memory, and stores the new one only if no other request was faster; otherwise it starts again,
 * so that concurrent requests lose nothing.
 */
export default {
  async fetch(request: Request, { AGENTS }: Environment): Promise<Response> {
    const [agent, ...names] = segments(request.url);
    if (agent === undefined) return new Response('Which agent? The path is /<agent>/<path>\n', { status: 400 });
    const body = new Uint8Array(await request.arrayBuffer());
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const stored = await AGENTS.get(agent);
      const fs = createFileSystem({ limits: LIMITS });
      if (stored !== null) await restoreSnapshot(fs, new Uint8Array(await stored.arrayBuffer()));
      const response = await answer(fs, request.method, `/${names.join('/')}`, body);
      if (request.method === 'GET' || !response.ok) return response;
      const onlyIf = stored === null ? { etagDoesNotMatch: '*' } : { etagMatches: stored.etag };
      if ((await AGENTS.put(agent, await createSnapshot(fs), { onlyIf })) !== null) return response;
    }
    return new Response('Too many requests of this agent at once\n', { status: 409 });
  },
};

/** Returns the segments of a URL's path; none if it is malformed. */
function segments(url: string): string[] {
  try {
    return decodeURIComponent(new URL(url).pathname)
      .split('/')
      .filter((name) => name !== '');
  } catch {
    return [];
  }
}

async function answer(fs: SyncFileSystem, method: string, path: string, body: Uint8Array): Promise<Response> {
  try {
    switch (method) {
      case 'GET':
        if (await fs.isDirectory(path)) return Response.json(await fs.readdir(path));
        return new Response(await fs.readFile(path), { headers: { 'content-type': 'application/octet-stream' } });
      case 'PUT':
        await fs.mkdir(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
        await fs.writeFile(path, body);
        return Response.json(await fs.stats(), { status: 201 });
      case 'DELETE':
        await fs.rm(path, { recursive: true });
        return Response.json(await fs.stats());
      default:
        return new Response('GET, PUT and DELETE\n', { status: 405 });
    }
  } catch (error) {
    if (!isFsError(error)) throw error;
    return new Response(`${error.message}\n`, { status: STATUS[error.code] ?? 400 });
  }
}
