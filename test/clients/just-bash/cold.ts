import { asyncMemoryStorage } from '@scratchfs/memory';
import { createBashFs } from '@scratchfs/node-fs/bash';
import { Bash, DefenseInDepthBox, type IFileSystem, type SecurityViolation } from 'just-bash';
import { createFileSystem } from 'scratchfs';

/**
 * Runs the first calls of a process under just-bash's defences, before anything that a runtime creates on first use
 * exists. Prints the violations and the script's output.
 */
const script = `
mkdir -p a/b && printf 'x\\ny\\n' > a/b/f && cat a/b/f >> g && ln -s a/b/f l && ln g h
stat -c '%s %a' l g && readlink l && chmod 700 g && touch g && cp -r a c && mv c d && cp g i && find . -type f | sort
grep -r x . | sort && ls -la a > /dev/null && rm -r d && rm l i && [ h -ef g ] && echo same && base64 g && du -s a > /dev/null
ls 'a*' > /dev/null 2>&1; cd a/b && pwd -P && cat none 2> /dev/null || echo "exit $?"
`;

const complaints: string[] = [];
const onViolation = ({ type, path }: SecurityViolation) => void complaints.push(`${type} ${path}`);

async function run(fs: IFileSystem): Promise<string> {
  DefenseInDepthBox.resetInstance();
  const shell = new Bash({ fs, cwd: '/', defenseInDepth: { enabled: true, onViolation } });
  const { stdout, stderr } = await shell.exec(script);
  return stdout + stderr;
}

const storage = process.argv[2] === 'async' ? asyncMemoryStorage() : undefined;
const fileSystem = await (storage === undefined ? createFileSystem() : createFileSystem({ storage }));
const output = await run(createBashFs(fileSystem));
const ours = complaints.splice(0);

// Proves that the defences were on: the same filesystem with a timer in it is a violation.
const fs = createBashFs(createFileSystem());
const exists = fs.exists.bind(fs);
fs.exists = (path) => {
  setTimeout(() => {}, 0);
  return exists(path);
};
await run(fs).catch(() => {});

console.log(JSON.stringify({ output, ours, theirs: [...new Set(complaints)] }));
