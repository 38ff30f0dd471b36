import { baseName, type EntryInfo, parentPath } from '@scratchfs/core';
import { usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { entryJson, paintedName } from '../terminal/entry-text.js';
import { count } from '../terminal/quantities.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const depth = options.text('depth');
  if (depth !== undefined && !/^[1-9]\d*$/.test(depth)) throw usageError('--depth must be a number from 1.');
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const top = path(args[0] ?? '.');
    const walk = fileSystem.walk(top, { signal, ...(depth === undefined ? {} : { maxDepth: Number(depth) }) });
    const entries: EntryInfo[] = [];
    await output.progress('Reading', async (report) => {
      for await (const entry of walk) {
        entries.push(entry);
        report(count(entries.length, 'path'));
      }
    });
    const last = new Map<string, string>();
    for (const { path: one } of entries) last.set(parentPath(one), one);
    const lines = [`${output.style.directory(output.listed(baseName(top)))}${top === '/' ? '' : '/'}`];
    for (const entry of entries) {
      let indent = '';
      for (let at = parentPath(entry.path); at !== top; at = parentPath(at))
        indent = (last.get(parentPath(at)) === at ? '    ' : '│   ') + indent;
      const branch = last.get(parentPath(entry.path)) === entry.path ? '└── ' : '├── ';
      const link = entry.target === undefined ? '' : ` -> ${output.listed(entry.target)}`;
      lines.push(output.style.dim(indent + branch) + paintedName(entry, output) + link);
    }
    const directories = entries.filter(({ isDirectory }) => isDirectory).length;
    const files = entries.length - directories;
    lines.push('', output.style.dim(`${count(directories, 'directory', 'directories')}, ${count(files, 'file')}`));
    return { lines, json: { path: top, entries: entries.map(entryJson) } };
  });
}
