import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { installWithApt, run } from './lib.mjs';

/**
 * Makes sure that an S3 server exists for the tests, and prints its version. It lives in its own folder, which is kept
 * between runs: Ceph's gateway, from a Debian release whose version honours conditional writes. With
 * `SCRATCHFS_TEST_S3_SERVER=moto` it is moto, which starts in seconds but accepts every signature: good for quick
 * loops, but not sufficient proof. A bucket named in `SCRATCHFS_TEST_S3_URL` is used instead of both.
 */
const SERVERS = {
  ceph: {
    name: 'Ceph gateway',
    size: 'some 600 MB',
    tried: '20.2.4',
    release: 'forky',
    packages: 'radosgw,ceph-mon,ceph-osd,ceph-common,curl,bash,coreutils,base-files,libc-bin,grep,sed',
    version: ['radosgw', '--version'],
    folder: process.env.SCRATCHFS_CEPH_FOLDER,
  },
  moto: {
    name: 'moto',
    size: 'some 240 MB unpacked',
    tried: '5.2.4',
    release: 'sid',
    packages: 'python3-moto,python3-flask,python3-flask-cors,base-files,libc-bin',
    version: ['python3', '-c', 'import moto; print("version", moto.__version__)'],
  },
};
const which = process.env.SCRATCHFS_TEST_S3_SERVER ?? 'ceph';
const server = SERVERS[which];
if (server === undefined) {
  console.error(`SCRATCHFS_TEST_S3_SERVER is ${which}: there is ${Object.keys(SERVERS).join(', ')}`);
  process.exit(1);
}
const folder = server.folder ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'scratchfs', which);

async function version() {
  if (!existsSync(join(folder, 'usr'))) return undefined;
  const { code, output } = await run('chroot', [folder, ...server.version], { quiet: true });
  return code === 0 ? /version (\S+)/.exec(output)?.[1] : undefined;
}

/** Returns the package mirror that this machine is configured with. */
function mirror() {
  for (const file of ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']) {
    const found = existsSync(file) && /^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(\S+)/m.exec(readFileSync(file, 'utf8'))?.[1];
    if (found) return found;
  }
  return undefined;
}

async function fetchServer() {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const from = isRoot && existsSync('/usr/bin/apt-get') ? mirror() : undefined;
  if (from === undefined) return 'a server can be fetched only as root on a Debian';
  console.log(`  fetching ${server.name}, ${server.size}, for this run and those after it…`);
  if ((await run('mmdebstrap', ['--version'], { quiet: true })).code !== 0) {
    const problem = await installWithApt('mmdebstrap');
    if (problem !== undefined) return problem;
  }
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const options = ['Apt::Install-Recommends "false"', 'Acquire::Check-Valid-Until "false"'];
  const args = ['--variant=extract', ...options.map((option) => `--aptopt=${option}`), `--include=${server.packages}`];
  const { code, output } = await run('mmdebstrap', [...args, server.release, fresh, from], {
    quiet: true,
    timeoutMs: 20 * 60_000,
  });
  if (code !== 0) return `mmdebstrap could not fetch ${server.name}: ${output.trim().split('\n').at(-1)}`;
  await run('chroot', [fresh, 'ldconfig'], { quiet: true });
  renameSync(fresh, folder);
  return undefined;
}

const given = process.env.SCRATCHFS_TEST_S3_URL;
const problem = given === undefined && (await version()) === undefined ? await fetchServer() : undefined;
const found = given === undefined ? await version() : 'the bucket of SCRATCHFS_TEST_S3_URL';
const reason = problem ?? (found === undefined ? `${server.name} does not run` : undefined);
if (reason !== undefined) console.log(`  ${reason}`);
else if (given !== undefined) console.log(`  ${found}`);
// Another version is accepted: a test checks that it honours conditional writes.
else console.log(`  ${server.name} ${found}${found === server.tried ? '' : `, tried was ${server.tried}`}`);
const counts =
  reason === undefined
    ? { passed: 1, failed: 0, skipped: 0 }
    : { passed: 0, failed: 0, skipped: 1, missing: 1, reasons: [`the tests on S3: ${reason}`] };
if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
