import type { JobMessage, JobTable, ReplyMessage } from './process-pool.js';

const loading = import(process.argv[2] as string) as Promise<{ readonly jobs: JobTable }>;

process.on('message', async ({ call, name, argument }: JobMessage) => {
  let answer: ReplyMessage;
  try {
    const job = (await loading).jobs[name] as (argument: unknown) => Promise<unknown>;
    answer = { call, value: await job(argument) };
  } catch (error) {
    answer = { call, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());
