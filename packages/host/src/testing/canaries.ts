import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { Sandbox } from '@scratchfs/sandbox';
import { runInOsSandbox } from '../os-sandbox/run-in-os-sandbox.js';

/** Probes from inside a sandbox for things of the host that must not be visible there, and prints what it finds. */
const [secret = ''] = process.argv.slice(2);
const probes: Record<string, string> = {
  file: `cat ${secret}`,
  environment: 'env; cat /proc/1/environ /proc/*/environ',
  descriptors:
    'for fd in 3 4 5 6 7 8 9; do cat <&$fd; done 2>/dev/null; for fd in /proc/self/fd/*; do readlink $fd; done; cat /proc/1/fd/*',
  parents: 'cat /proc/$PPID/environ /proc/1/cmdline; ls -l /proc/1/cwd/ /proc/1/root/',
  processes: 'cd /proc; echo [0-9]*',
  whoami: 'id -u',
  capabilities: 'grep CapEff /proc/self/status',
  sysctl: '{ echo x >/proc/sys/kernel/hostname; } 2>/dev/null && echo taken || echo refused',
  userns: 'unshare --user true 2>/dev/null && echo taken || echo refused',
  home: 'ls -A /root /home 2>/dev/null',
  root: '{ touch /x || touch /usr/x || touch /dev/x || touch /etc/x; } 2>/dev/null && echo taken || echo refused',
  network:
    'bash -c "exec 3<>/dev/tcp/127.0.0.1/22 || exec 3<>/dev/udp/8.8.8.8/53 && echo x >&3" 2>/dev/null && echo taken || echo refused',
  sockets: 'ls -A /run /var/run /tmp 2>/dev/null',
  mounts: 'cat /etc/shadow /etc/hostname /var/lib/dpkg/status 2>/dev/null | head -c 200',
};
const fs = await openFileSystem(new MemoryStorage(), { files: { '/a': 'a' } });
const sandbox = new Sandbox(fs, { root: { root: '/' }, requireOsSandbox: true });
const seen: Record<string, string> = {};
for (const [name, script] of Object.entries(probes))
  seen[name] = (await runInOsSandbox(sandbox, `${script} 2>&1`)).stdout.trim().replace(secret, '');
for (const [name, text] of Object.entries(seen))
  if (name === 'home' || name === 'root') seen[name] = text.replace(/^ls: .*$/gm, '').trim();
process.stdout.write(JSON.stringify(seen));
