import { DurableObjectStorage, type SqlObjectState } from '@scratchfs/cloudflare';
import { createFileSystem, type FileSystem, type FsErrorCode, isFsError } from 'scratchfs';

/** The used part of a binding of Durable Objects. */
interface Namespace {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

interface Environment {
  readonly AGENTS: Namespace;
}

const LIMITS = { maxTotalSize: 1_000_000, maxNodeCount: 1_000 };
const STATUS: Partial<Record<FsErrorCode, number>> = { ENOENT: 404, ENOSPC: 507, EFBIG: 507 };

/** The files of one agent, in the database of its Durable Object. */
export class Agent {
  readonly #fs: Promise<FileSystem>;

  constructor({ storage }: { readonly storage: SqlObjectState }) {
    this.#fs = createFileSystem({ storage: new DurableObjectStorage(storage), limits: LIMITS });
  }

  async fetch(request: Request): Promise<Response> {
    const [, ...names] = segments(request.url);
    const path = `/${names.join('/')}`;
    try {
      return await respond(await this.#fs, request, path);
    } catch (error) {
      if (!isFsError(error)) throw error;
      return new Response(`${error.message}\n`, { status: STATUS[error.code] ?? 400 });
    }
  }
}

/** `GET PUT DELETE /<agent>/<path>`: sends each request to the Durable Object of its agent. */
export default {
  async fetch(request: Request, { AGENTS }: Environment): Promise<Response> {
    const [agent] = segments(request.url);
    if (agent === undefined) return new Response('Which agent? The path is /<agent>/<path>\n', { status: 400 });
    return AGENTS.get(AGENTS.idFromName(agent)).fetch(request);
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

async function respond(fs: FileSystem, request: Request, path: string): Promise<Response> {
  switch (request.method) {
    case 'GET':
      if (await fs.isDirectory(path)) return Response.json(await fs.readdir(path));
      return new Response(await fs.readFile(path), { headers: { 'content-type': 'application/octet-stream' } });
    case 'PUT': {
      const body = new Uint8Array(await request.arrayBuffer());
      // Both or neither: a file that is too large leaves no directory.
      await fs.transaction(async (tx) => {
        await tx.mkdir(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
        await tx.writeFile(path, body);
      });
      return Response.json(await fs.stats(), { status: 201 });
    }
    case 'DELETE':
      await fs.rm(path, { recursive: true });
      return Response.json(await fs.stats());
    default:
      return new Response('GET, PUT and DELETE\n', { status: 405 });
  }
}
