import type { FileSystem } from '../file-system.js';

/** The files that {@link WRITES} change. */
export const WRITE_FILES = { '/d/f': 'text', '/g': 'more' };

/** Calls of methods that write, one for each method. A read-only filesystem must refuse them. */
export const WRITES: Readonly<Record<string, (fs: FileSystem) => unknown>> = {
  mkdir: (fs) => fs.mkdir('/new'),
  mkdtemp: (fs) => fs.mkdtemp('/new-'),
  writeFile: (fs) => fs.writeFile('/d/f', 'x'),
  writeLines: (fs) => fs.writeLines('/new', ['x']),
  appendFile: (fs) => fs.appendFile('/d/f', 'x'),
  editFile: (fs) => fs.editFile('/d/f', 'text', 'x'),
  truncate: (fs) => fs.truncate('/d/f'),
  createWriteStream: (fs) => fs.createWriteStream('/d/f').getWriter().write('x'),
  open: (fs) => fs.open('/d/f', 'r+'),
  rm: (fs) => fs.rm('/d', { recursive: true }),
  unlink: (fs) => fs.unlink('/g'),
  rmdir: (fs) => fs.rmdir('/d'),
  cp: (fs) => fs.cp('/d', '/new', { recursive: true }),
  copyFile: (fs) => fs.copyFile('/g', '/new'),
  rename: (fs) => fs.rename('/g', '/new'),
  symlink: (fs) => fs.symlink('x', '/new'),
  link: (fs) => fs.link('/g', '/new'),
  chmod: (fs) => fs.chmod('/g', 0o600),
  chown: (fs) => fs.chown('/g', 1, 1),
  lchown: (fs) => fs.lchown('/g', 1, 1),
  utimes: (fs) => fs.utimes('/g', 1, 1),
  lutimes: (fs) => fs.lutimes('/g', 1, 1),
  checkpoint: (fs) => fs.checkpoint(),
  rollback: (fs) => fs.rollback('before'),
  drop: (fs) => fs.drop('before'),
  run: (fs) =>
    fs.run((view) => {
      view.find('/g', false, 'look', 'x');
      view.remove(view.at.parent, view.at.name);
    }, []),
  transaction: (fs) => fs.transaction((inside) => inside.writeFile('/g', 'x')),
};
