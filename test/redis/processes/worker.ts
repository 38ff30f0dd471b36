import { jobs } from './jobs.js';
import type { AnswerMessage, JobMessage } from './process-pool.js';

process.on('message', async ({ call, name, argument }: JobMessage) => {
  const job = jobs[name] as (argument: unknown) => Promise<unknown>;
  let answer: AnswerMessage;
  try {
    answer = { call, value: await job(argument) };
  } catch (error) {
    answer = { call, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());
