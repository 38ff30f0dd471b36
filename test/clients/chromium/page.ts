import { createNodeFs, type WebFs } from '@scratchfs/node-fs/web';
import { Buffer } from 'buffer';
import git, { type PromiseFsClient } from 'isomorphic-git';
import http from 'isomorphic-git/http/web';

// isomorphic-git needs a global Buffer and documents that the page must provide it.
Object.assign(globalThis, { Buffer });

export type Form = 'promises' | 'callbacks';
/** A file or link of the work tree or the repository, as the page exports it. */
export type Exported =
  | { readonly path: string; readonly mode: number; readonly bytes: readonly number[] }
  | { readonly path: string; readonly target: string };
export interface Answer {
  readonly ids: Readonly<Record<string, string>>;
  readonly status: readonly string[];
  readonly files: readonly Exported[];
}

const dir = '/repository';
const author = { name: 'Ada', email: 'ada@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 };

/** Returns the filesystem in the given form; isomorphic-git uses callbacks if there are no promises. */
function clientOf(fs: WebFs, form: Form): PromiseFsClient {
  const { promises: _, ...callbacks } = fs;
  return (form === 'callbacks' ? callbacks : fs) as unknown as PromiseFsClient;
}

/** Runs init, commits, branches, checkouts, and a merge of two changes to one file. */
async function history(form: Form): Promise<Answer> {
  const fs = createNodeFs();
  const repository = { fs: clientOf(fs, form), dir };
  const commit = async (message: string, files: Readonly<Record<string, string>>) => {
    await write(fs, files);
    for (const filepath of Object.keys(files)) await git.add({ ...repository, filepath });
    return git.commit({ ...repository, message, author });
  };
  await fs.promises.mkdir(dir);
  await git.init({ ...repository, defaultBranch: 'main' });
  await fs.promises.symlink('a.txt', `${dir}/link`);
  await git.add({ ...repository, filepath: 'link' });
  const base = await commit('Begin', { 'a.txt': 'one\ntwo\nthree\n', 'deep/er/ünï.txt': 'é\n' });
  await git.branch({ ...repository, ref: 'side' });
  await git.checkout({ ...repository, ref: 'side' });
  const side = await commit('Side', { 'a.txt': 'one\ntwo\nTHREE\n', 'side.txt': 'side\n' });
  await git.checkout({ ...repository, ref: 'main' });
  const main = await commit('Main', { 'a.txt': 'ONE\ntwo\nthree\n' });
  const { oid: merged = '' } = await git.merge({ ...repository, ours: 'main', theirs: 'side', author });
  await git.checkout({ ...repository, ref: 'main' });
  return { ids: { base, side, main, merged }, ...(await look(fs, repository)) };
}

/** Clones over http, and pushes a commit. */
async function clone(form: Form, url: string): Promise<Answer> {
  const fs = createNodeFs();
  const repository = { fs: clientOf(fs, form), dir, http };
  await git.clone({ ...repository, url });
  const cloned = await git.resolveRef({ ...repository, ref: 'HEAD' });
  await write(fs, { 'from-the-page.txt': 'page\n' });
  await git.add({ ...repository, filepath: 'from-the-page.txt' });
  const pushed = await git.commit({ ...repository, message: 'From the page', author });
  await git.push({ ...repository, ref: 'main' });
  return { ids: { cloned, pushed }, ...(await look(fs, repository)) };
}

async function write(fs: WebFs, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    await fs.promises.mkdir(`${dir}/${folder}`, { recursive: true });
    await fs.promises.writeFile(`${dir}/${path}`, text);
  }
}

async function look(fs: WebFs, repository: { readonly fs: PromiseFsClient; readonly dir: string }) {
  const status = (await git.statusMatrix(repository)).map((row) => row.join(' '));
  const files: Exported[] = [];
  for (const entry of await fs.promises.readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath}/${entry.name}`;
    const beneath = path.slice(dir.length + 1);
    if (entry.isSymbolicLink()) files.push({ path: beneath, target: await fs.promises.readlink(path) });
    if (!entry.isFile()) continue;
    const { mode } = await fs.promises.stat(path);
    files.push({ path: beneath, mode: mode & 0o777, bytes: [...(await fs.promises.readFile(path))] });
  }
  return { status, files };
}

const jobs = { history, clone };
export type Jobs = typeof jobs;
Object.assign(globalThis, { jobs });
