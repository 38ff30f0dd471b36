import type { Subject } from './subject.js';

/** The part of `node:fs` that a subject uses. */
export type NodeShaped = Pick<
  typeof import('node:fs'),
  | 'mkdirSync'
  | 'writeFileSync'
  | 'readFileSync'
  | 'statSync'
  | 'existsSync'
  | 'readdirSync'
  | 'appendFileSync'
  | 'rmSync'
  | 'cpSync'
  | 'renameSync'
  | 'openSync'
  | 'writeSync'
>;

/** Returns a subject over an object with the methods of `node:fs`; `prefix` is the path of its root. */
export function nodeShaped(fs: NodeShaped, prefix = ''): Subject {
  const countAll = (path: string): number => {
    let count = 0;
    for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
      count += 1;
      if (entry.isDirectory()) count += countAll(`${path}/${entry.name}`);
    }
    return count;
  };
  return {
    isAsync: false,
    mkdir: (path) => fs.mkdirSync(prefix + path, { recursive: true }),
    write: (path, data) => fs.writeFileSync(prefix + path, data),
    read: (path) => fs.readFileSync(prefix + path),
    readText: (path) => fs.readFileSync(prefix + path, 'utf8'),
    size: (path) => fs.statSync(prefix + path).size,
    exists: (path) => fs.existsSync(prefix + path),
    list: (path) => fs.readdirSync(prefix + path).sort(),
    append: (path, data) => fs.appendFileSync(prefix + path, data),
    remove: (path) => fs.rmSync(prefix + path, { recursive: true }),
    copy: (from, to) => fs.cpSync(prefix + from, prefix + to, { recursive: true }),
    rename: (from, to) => fs.renameSync(prefix + from, prefix + to),
    countFiles: (path) =>
      fs.readdirSync(prefix + path, { withFileTypes: true }).filter((entry) => entry.isFile()).length,
    countAll: (path) => countAll(prefix + path),
    writer: (path) => {
      const fd = fs.openSync(prefix + path, 'r+');
      return (data, position) => fs.writeSync(fd, data, 0, data.length, position);
    },
  };
}
