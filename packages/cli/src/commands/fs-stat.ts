import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { alignColumns } from '../terminal/columns.js';
import { modeText } from '../terminal/entry-text.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText } from '../terminal/quantities.js';

export function run(call: Call): Promise<Result> {
  const { args, output, signal } = call;
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const lines: string[] = [];
    const entries: unknown[] = [];
    for (const argument of args) {
      const at = path(argument);
      const stats = await fileSystem.lstat(at, { signal });
      const target = stats.isSymbolicLink() ? await fileSystem.readlink(at, { signal }) : undefined;
      const mode = stats.mode & 0o7777;
      entries.push({
        path: at,
        kind: stats.kind,
        size: stats.size,
        mode,
        links: stats.nlink,
        uid: stats.uid,
        gid: stats.gid,
        modifiedAt: stats.mtimeMs,
        changedAt: stats.ctimeMs,
        createdAt: stats.birthtimeMs,
        version: stats.version,
        ...(target === undefined ? {} : { target }),
      });
      const rows = [
        ['  kind', stats.kind],
        ...(target === undefined ? [] : [['  target', escapeText(target)]]),
        ['  size', bytesText(stats.size)],
        ['  mode', `${modeText(stats.kind, mode)} (${mode.toString(8).padStart(3, '0')})`],
        ['  owner', `${stats.uid}:${stats.gid}`],
        ['  names', String(stats.nlink)],
        ['  modified', stats.mtime.toISOString()],
        ['  changed', stats.ctime.toISOString()],
        ['  created', stats.birthtime.toISOString()],
        ['  version', stats.version],
      ];
      if (lines.length > 0) lines.push('');
      lines.push(output.style.heading(escapeText(at)), ...alignColumns(rows));
    }
    return { lines, json: { entries } };
  });
}
