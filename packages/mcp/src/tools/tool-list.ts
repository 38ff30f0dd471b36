import { quote } from '@scratchfs/core';
import type { ServerSettings } from '../server/options.js';
import { accept, attempts, diff, fork } from './attempt-tools.js';
import { claudeTools } from './claude-tools.js';
import { fileTools } from './file-tools.js';
import { runTool } from './run-tool.js';
import type { ServerTool } from './server-tool.js';
import { checkpoint, log, redo, undo } from './undo-tools.js';

/** Returns the tools to offer. @throws TypeError for a name that no tool has */
export function toolList(settings: ServerSettings): ServerTool[] {
  const files = settings.profile === 'claude' ? claudeTools() : fileTools();
  const all = [...files, runTool(settings.network), checkpoint, undo, redo, log, diff, fork, attempts, accept];
  const unknown = settings.tools?.find((name) => all.every((tool) => tool.name !== name));
  if (unknown !== undefined)
    throw new TypeError(`There is no tool ${quote(unknown)}. There are ${all.map(({ name }) => name).join(', ')}`);
  return all.filter(
    ({ name, effect }) =>
      (name !== 'run' || settings.allowRun) &&
      (effect === 'none' || !settings.readOnly) &&
      (settings.tools?.includes(name) ?? true),
  );
}
