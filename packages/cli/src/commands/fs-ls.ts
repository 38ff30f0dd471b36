import type { EntryInfo } from '@scratchfs/core';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { alignColumns } from '../terminal/columns.js';
import { entryJson, modeText, paintedName } from '../terminal/entry-text.js';
import { timeText } from '../terminal/quantities.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const lines: string[] = [];
    const all: EntryInfo[] = [];
    const places = args.length === 0 ? ['.'] : args;
    for (const place of places) {
      const at = path(place);
      const isDirectory = await fileSystem.stat(at, { signal }).then((stats) => stats.isDirectory());
      const { content: _, ...self } = isDirectory ? { content: undefined } : await fileSystem.getEntry(at, { signal });
      const entries = isDirectory ? await fileSystem.entries(at, { signal }) : [self as EntryInfo];
      for (const entry of entries) all.push(entry);
      if (places.length > 1) lines.push(...(lines.length === 0 ? [] : ['']), `${output.listed(place)}:`);
      const now = Date.now();
      const row = (entry: EntryInfo): string[] => [
        output.style.dim(modeText(entry.kind, entry.mode)),
        String(entry.size),
        output.style.dim(timeText(entry.modifiedAt, now)),
        paintedName(entry, output) + (entry.target === undefined ? '' : ` -> ${output.listed(entry.target)}`),
      ];
      const listed = options.flag('long')
        ? alignColumns(entries.map(row), { right: [1] })
        : entries.map((entry) => paintedName(entry, output));
      for (const line of listed) lines.push(line);
    }
    return { lines, json: { entries: all.map((entry) => entryJson(entry)) } };
  });
}
