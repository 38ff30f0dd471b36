import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { gitMounts, withoutCredentials } from './git-mounts.js';

const folder = mkdtempSync(join(tmpdir(), 'scratchfs-git-mounts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function written(text: string): string {
  const file = join(folder, `config-${files++}`);
  writeFileSync(file, text);
  return file;
}

function listing(file: string): string[] {
  return execFileSync('git', ['config', '--file', file, '--list', '-z'], { encoding: 'latin1' })
    .split('\0')
    .slice(0, -1);
}

it('withoutCredentials() removes passwords in URLs and settings with credentials, and nothing else', async () => {
  const config = written(String.raw`# secret
[remote "origin"]
	url = https://user:secret@example.com/x.git
	url = https://user:sec@ret@example.com/x.git
	url = ht\
tps://user:\
secret@example.com/x.git
	url = https://user:pàŠ secret@example.com/x.git
	url = git@example.com:x.git
	fetch = "+refs/heads/*:refs/remotes/origin/*" ; secret
[http "https://user:secret@example.com"] extraHeader = AUTHORIZATION: basic secret
[http]
	extraHeader = AUTHORIZATION: \
secret
	proxy = http://user:secret@proxy
[sendemail] smtpPass = secret
[a] apiKey = secret
	smtpPasswd = secret
[core]	bare
	editor =
[Alias "a.\"B\\ é"] x = "!echo \"a\\b\"\n\t# ü " two
[old.Style] key = 1
`);
  const shown = await withoutCredentials(config);
  expect(shown).not.toContain('secret');
  expect(listing(written(Buffer.from(shown, 'latin1').toString()))).toEqual(
    listing(config)
      .filter((one) => !/^http\..*(extraheader|proxy)\n|smtppass|apikey/.test(one))
      .map((one) => one.replace(/:\/\/.*@/, '://')),
  );
});

it('withoutCredentials() returns nothing of a file that git cannot read', async () => {
  expect(await withoutCredentials(written('[http]\nextraHeader = secret\n[broken\n'))).toBe('');
});

it('gitMounts() replaces the configurations of work trees and submodules too', async () => {
  const repository = join(folder, 'repository/.git');
  const scratch = join(folder, 'scratch');
  mkdirSync(scratch);
  execFileSync('git', ['init', '-q', dirname(repository)]);
  const configs = [
    'config',
    'config.worktree',
    'worktrees/a/config.worktree',
    'modules/a/config',
    'modules/b/c/config',
  ];
  for (const one of [...configs, 'refs/heads/config']) {
    mkdirSync(dirname(join(repository, one)), { recursive: true });
    writeFileSync(join(repository, one), '[core]\n\tbare = false\n[http] extraHeader = secret\n');
  }
  const [whole, ...copies] = await gitMounts(repository, '/workspace/.git', scratch);
  expect(whole).toEqual({ host: repository, inside: '/workspace/.git', isWritable: false });
  expect(copies.map(({ inside }) => relative('/workspace/.git', inside)).sort()).toEqual(configs.sort());
  expect(readdirSync(scratch)).toHaveLength(configs.length);
  for (const { host } of copies) expect(readFileSync(host, 'utf8')).toBe('[core]\n\tbare = "false"\n');
});

it('gitMounts() shows no copy at a configuration that is a link out of the repository', async () => {
  const repository = join(folder, 'workdir/.git');
  const scratch = join(folder, 'scratch-of-workdir');
  mkdirSync(scratch);
  execFileSync('git', ['init', '-q', dirname(repository)]);
  rmSync(join(repository, 'config'));
  symlinkSync(written('[http] extraHeader = secret\n'), join(repository, 'config'));
  mkdirSync(join(repository, 'modules/a'), { recursive: true });
  symlinkSync('missing', join(repository, 'modules/a/config'));
  writeFileSync(join(repository, 'kept'), '[http] extraHeader = secret\n');
  symlinkSync('kept', join(repository, 'config.worktree'));
  const [, ...copies] = await gitMounts(repository, '/workspace/.git', scratch);
  expect(copies.map(({ inside }) => inside)).toEqual(['/workspace/.git/kept']);
});
