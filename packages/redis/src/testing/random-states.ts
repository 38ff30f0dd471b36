import type { FileSystem } from '@scratchfs/core';
import { Random } from '@scratchfs/testkit';

/** A step that is applied to two filesystems. Returns the filesystem to continue with. */
export type Step = (fs: FileSystem) => Promise<FileSystem>;

const SIZES = [0, 1, 100, 4_096, 8_191, 8_192, 20_000, 65_535, 65_536, 65_537, 150_000, 300_000];
const PARENTS = ['', '/a', '/a/b', '/c', '/c/d/e', '/many', '/copy', '/copy/b'];
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'copy', 'many'];

/** Generates random steps that use sharing, copies, links, chunks and directories of many buckets. */
export class RandomStates {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  next(): { readonly title: string; readonly step: Step } {
    const random = this.#random;
    const path = this.#path();
    const other = this.#path();
    const bytes = new Uint8Array(random.pick(SIZES)).fill(random.below(256));
    const at = random.below(200_000);
    const count = 1 + random.below(60);
    const name = `cp${random.below(4)}`;
    const kind = random.below(100);
    const plain = (title: string, work: (fs: FileSystem) => Promise<unknown>): ReturnType<RandomStates['next']> => ({
      title,
      step: async (fs) => {
        await work(fs);
        return fs;
      },
    });
    if (kind < 20) return plain(`write ${path} ${bytes.length}`, (fs) => fs.writeFile(path, bytes));
    if (kind < 30) return plain(`append ${path} ${bytes.length}`, (fs) => fs.appendFile(path, bytes));
    if (kind < 38) return plain(`truncate ${path} ${at}`, (fs) => fs.truncate(path, at));
    if (kind < 46)
      return plain(`patch ${path} at ${at}`, async (fs) => {
        await using handle = await fs.open(path, 'r+');
        await handle.write(bytes.subarray(0, 70_000), at);
      });
    if (kind < 54) return plain(`mkdir ${path}`, (fs) => fs.mkdir(path, { recursive: true }));
    if (kind < 60) return plain(`rename ${path} ${other}`, (fs) => fs.rename(path, other));
    if (kind < 66) return plain(`rm ${path}`, (fs) => fs.rm(path, { recursive: true }));
    if (kind < 73) return plain(`cp ${path} ${other}`, (fs) => fs.cp(path, other, { recursive: true }));
    if (kind < 77) return plain(`link ${path} ${other}`, (fs) => fs.link(path, other));
    if (kind < 79) return plain(`symlink ${path}`, (fs) => fs.symlink('/a/b', path));
    if (kind < 81) return plain(`chmod ${path}`, (fs) => fs.chmod(path, 0o600 + count));
    if (kind < 87)
      return plain(`fill ${path} ${count}`, (fs) =>
        fs.transaction(async (inside) => {
          for (let i = 0; i < count; i++) await inside.writeFile(`${path}/n${i * 7}`, `text ${i}`);
        }),
      );
    if (kind < 90)
      return plain(`clear out ${path}`, async (fs) => {
        for (const one of await fs.readdir(path))
          if (one.startsWith('n')) await fs.rm(`${path}/${one}`, { recursive: true });
      });
    if (kind < 94) return plain(`checkpoint ${name}`, (fs) => fs.checkpoint(name));
    if (kind < 96) return plain(`rollback ${name}`, (fs) => fs.rollback(name));
    if (kind < 98) return plain(`drop ${name}`, (fs) => fs.drop(name));
    if (kind < 99)
      return {
        title: 'fork',
        step: async (fs) => {
          const fork = await fs.fork();
          await fs.close();
          return fork;
        },
      };
    return plain('transaction', (fs) =>
      fs.transaction(async (inside) => {
        await inside.writeFile(path, bytes);
        await inside.cp(path, other, { force: true });
        await inside.appendFile(path, bytes);
        await inside.link(path, `${path}-link`);
        await inside.appendFile(`${path}-link`, 'x');
        await inside.rename(other, `${other}-moved`);
      }),
    );
  }

  #path(): string {
    const random = this.#random;
    return random.chance(0.1) ? random.pick(PARENTS.slice(1)) : `${random.pick(PARENTS)}/${random.pick(NAMES)}`;
  }
}
