import { Miniflare } from 'miniflare';
import { bundle, call } from '../open-worker.js';

/**
 * `npm run bench -- cloudflare`: what typical jobs on 500 files are charged for, and their milliseconds in miniflare,
 * beside the raw store and unstorage. The milliseconds say how the contenders compare, not what Cloudflare takes.
 */
const worker = new Miniflare({
  modules: [{ type: 'ESModule', path: 'worker.js', contents: await bundle('bench/worker.ts') }],
  compatibilityDate: '2025-01-01',
  r2Buckets: ['BUCKET'],
  durableObjects: { AGENTS: { className: 'Agent', useSQLite: true } },
});

type Counts = Readonly<Record<string, number>> | null;

try {
  for (const [where, unit] of [
    ['bucket', ['A', 'B', 'free']],
    ['agents', ['written', 'read']],
  ] as const) {
    const { contenders, jobs } = await call<{ contenders: string[]; jobs: string[] }>(worker, where);
    const run = (contender: string, job: string, times: number): Promise<Counts> =>
      call(worker, `${where}?${new URLSearchParams({ contender, job, times: String(times) })}`);
    for (const contender of contenders) await run(contender, 'plant', 0);
    console.log(
      `\n| ${unit.join(' + ')}; ms | ${contenders.join(' | ')} |\n|---|${contenders.map(() => '---:|').join('')}`,
    );
    for (const job of jobs) {
      const cells: string[] = [];
      for (const contender of contenders) {
        const times = 10;
        const ms: [number, number][] = [];
        let counts: Counts = null;
        // A run without the job says what the request itself takes.
        for (const repeated of [0, times, 0, times, 0, times]) {
          const started = performance.now();
          counts = await run(contender, job, repeated);
          ms.push([repeated, performance.now() - started]);
        }
        const median = (wanted: number): number =>
          ms
            .filter(([repeated]) => repeated === wanted)
            .map(([, each]) => each)
            .sort((a, b) => a - b)[1] as number;
        const each = Math.max(0, (median(times) - median(0)) / times);
        const known = counts as Record<string, number> | null;
        cells.push(
          known === null
            ? '–'
            : `${unit.map((what) => round((known[what] ?? 0) / times)).join(' + ')}; ${each.toFixed(1)}`,
        );
      }
      console.log(`| ${job} | ${cells.join(' | ')} |`);
    }
  }
} finally {
  await worker.dispose();
}

function round(number: number): string {
  return String(Math.round(number * 10) / 10);
}
