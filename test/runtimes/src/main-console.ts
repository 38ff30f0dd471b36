import { runSuites } from './main.js';

// Node, Deno and Bun: the last line of the output is the report.
console.log(`\n##REPORT ${JSON.stringify(await runSuites())}`);
