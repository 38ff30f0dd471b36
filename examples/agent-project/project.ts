import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILES = {
  'greet.sh': 'echo "Hello $1"\n',
  'test.sh': '[ "$(sh /greet.sh Ada)" = "Hello, Ada!" ]\n',
  'README.md': '# Greetings\n',
  'debug.log': 'not for the agent\n',
};

/** Creates the project on the disk, and returns its directory. */
export async function writeProject(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'scratchfs-example-'));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(directory, name), text);
  return directory;
}

/** Shows what the disk has now, and deletes the project. */
export async function removeProject(directory: string): Promise<void> {
  console.log('on the disk:', (await readFile(join(directory, 'greet.sh'), 'utf8')).trim());
  await rm(directory, { recursive: true });
}

interface ToolCall {
  readonly name: string;
  readonly input: unknown;
}

const edit = (newText: string): ToolCall => ({
  name: 'edit_file',
  input: { path: '/greet.sh', old_text: 'Hello $1', new_text: newText },
});

/** The tool calls of a model, in two attempts: the first one is careless. */
export const attempts: readonly (readonly ToolCall[])[] = [
  [edit('Hi, $1'), { name: 'delete_file', input: { path: '/README.md' } }],
  [edit('Hello, $1!')],
];
