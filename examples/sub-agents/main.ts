import { Sandbox, workerSandbox } from '@scratchfs/sandbox';
import { createFileTools, delegate } from '@scratchfs/tools';
import { createFileSystem } from 'scratchfs';

const project = createFileSystem({
  files: {
    '/src/cart.ts': 'export const total = (items: number[]) => items.reduce((sum, item) => sum - item, 0);\n',
    '/docs/pricing.md': 'Prices are secret.\n',
    '/fixes/README.md': 'One patched file for each problem.\n',
  },
});

/** Definitions of the program and its workers. */
const program = new Sandbox(project);
const definitions = {
  analyser: { allow_read: ['/src'], readonly: true },
  fixer: { allow_read: ['/src', '/fixes'], allow_write: ['/fixes'] },
};

type Call = readonly [tool: string, input: Record<string, unknown>];

/** Stands for a model: makes its calls, and prints the results. */
async function work(name: string, sandbox: Sandbox, calls: readonly Call[]): Promise<void> {
  const { call } = createFileTools(sandbox, {
    approve: ({ summary }) => {
      console.log(`  (approved: ${summary})`);
      return true;
    },
  });
  for (const [tool, input] of calls) {
    console.log(`${name}: ${tool} ${JSON.stringify(input)}`);
    const { text } = await call(tool, input);
    console.log(`  ${text.trim().replaceAll('\n', '\n  ')}`);
  }
}

const analyser = await workerSandbox(program, definitions.analyser);
await work('analyser', analyser, [
  ['list_files', {}],
  ['grep', { pattern: 'sum - ' }],
  ['read_file', { path: '/docs/pricing.md' }],
  ['write_file', { path: '/src/cart.ts', content: '' }],
]);

const fixer = await workerSandbox(program, definitions.fixer);
await work('fixer', fixer, [
  [
    'write_file',
    {
      path: '/fixes/cart.ts',
      content: 'export const total = (items: number[]) => items.reduce((a, b) => a + b, 0);\n',
    },
  ],
  ['edit_file', { path: '/src/cart.ts', old_text: 'sum - item', new_text: 'sum + item' }],
  ['move_file', { from: '/src/cart.ts', to: '/fixes/old.ts' }],
]);

console.log('fixer calls a reviewer with all of /docs:');
await delegate(fixer, { worker: 'reviewer', access: { allowRead: '/docs' } }).catch((error: Error) =>
  console.log(`  ${error.message.replaceAll('\n', '\n  ')}`),
);
const { sandbox: reviewer, attachments } = await delegate(fixer, {
  worker: 'reviewer',
  access: { allowRead: '/fixes' },
  attachments: ['/src/cart.ts'],
});
console.log(`  it gets ${reviewer.readableRoots.join(', ')} and ${attachments.length} file by value`);
console.log(
  'on the project:',
  project.readdirSync('/fixes'),
  project.readTextSync('/src/cart.ts').includes('sum - item'),
);
