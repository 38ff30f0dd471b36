import { bin, run } from './lib.mjs';

// Core is also checked alone, without Node's types.
const projects = ['tsconfig.json', 'packages/core/tsconfig.json'];
const results = await Promise.all(projects.map((project) => run(bin('tsc'), ['-p', project], { quiet: true })));
for (const [index, { code, output }] of results.entries()) {
  if (code !== 0) console.error(`tsc -p ${projects[index]}: exit code ${code}\n${output}`);
}
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);
