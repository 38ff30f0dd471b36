import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const KNOWN = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Returns an installed Chromium, or installs Debian's if allowed, or returns the reason why there is none. */
export function findChromium(): { program: string } | { missing: string } {
  const known = [process.env.SCRATCHFS_CHROMIUM ?? '', ...KNOWN].find((path) => path !== '' && existsSync(path));
  if (known !== undefined) return { program: known };
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) return { missing: 'no Chromium; install it or name it in SCRATCHFS_CHROMIUM' };
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env: environment, stdio: 'ignore', timeout: 240_000 } as const;
  try {
    execFileSync('apt-get', ['update', '-qq'], options);
    execFileSync('apt-get', ['install', '-qq', '-y', '--no-install-recommends', 'chromium'], options);
    return { program: KNOWN[0] as string };
  } catch (error) {
    return { missing: `no Chromium, and apt-get could not install it: ${String(error).split('\n')[0]}` };
  }
}
