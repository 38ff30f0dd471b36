import { install } from './install.mjs';
import { runSteps } from './runner.mjs';
import { steps } from './steps.mjs';

await install();
process.exit(
  await runSteps(
    steps.filter((step) => step.check),
    { totals: false },
  ),
);
