import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SCENARIOS, type Scenarios, STATELESS_WITH_FIXTURE } from './conformance-expected.js';
import { fixture } from './conformance-fixture.js';
import { addingToken, HAS_NODE_24, programOf, runInNode24, serve } from './other-node.js';
import { type Grounds, grounds } from './program.js';

interface Check {
  readonly id: string;
  readonly status: string;
}

type Checks = Readonly<Record<string, readonly Check[]>>;

/** Runs the scenarios of a revision on a server over HTTP. Returns the checks of each. */
async function checksOf(
  source: Parameters<typeof serve>[0],
  revision: string,
  { directory, env }: Grounds,
): Promise<Checks> {
  const top = dirname(directory);
  const results = mkdtempSync(join(top, 'results-'));
  const url = await addingToken(await serve(source));
  const options = ['server', '--url', url, '--requirements', revision, '-o', results];
  await runInNode24([programOf('conformance', 'dist', 'index.js'), ...options], { cwd: top, env });
  const found = readdirSync(results).map((folder): [string, Check[]] => {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    return [scenario, JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8'))];
  });
  return Object.fromEntries(found);
}

/** Returns the names of the scenarios in which no check fails and at least one check of their own succeeds. */
function passed(checks: Checks): string[] {
  const isOwn = ({ id, status }: Check): boolean => status === 'SUCCESS' && id !== 'wire-schema-valid';
  const hasFailed = ({ status }: Check): boolean => status === 'FAILURE';
  return Object.keys(checks)
    .filter((name) => checks[name]?.some(isOwn) && !checks[name]?.some(hasFailed))
    .sort();
}

const listed = ({ required, withFixture, besides, notOffered }: Scenarios): string[] =>
  [...required, ...withFixture, ...besides, ...Object.keys(notOffered)].sort();

describe.skipIf(!HAS_NODE_24).each(Object.entries(SCENARIOS))(
  'the conformance suite in revision %s',
  (revision, all) => {
    const { required, withFixture, besides } = all;

    it('passes all that is required over our HTTP, with tools of its own', async () => {
      const checks = await checksOf({ factory: fixture, onResourceChange: () => () => {} }, revision, grounds({}));
      expect(Object.keys(checks).sort()).toEqual(listed(all));
      expect(passed(checks)).toEqual([...required, ...withFixture, ...besides].sort());
    });

    it('passes all that needs no tools of its own on a workspace', async () => {
      const project = grounds({ a: 'a' });
      const server = new McpWorkspaceServer(() => openWorkspace(project.directory, { store: 'memory:' }));
      onTestFinished(() => server.close());
      const checks = await checksOf(server, revision, project);
      expect(Object.keys(checks).sort()).toEqual(listed(all));
      expect(passed(checks)).toEqual([...required, ...besides].sort());
      const failed = checks['server-stateless']?.filter(({ status }) => status === 'FAILURE').map(({ id }) => id) ?? [];
      expect(failed.sort()).toEqual(revision === '2026-07-28' ? STATELESS_WITH_FIXTURE : []);
    });
  },
);
