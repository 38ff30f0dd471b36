import { bundle } from './bundle.mjs';
import { fileOf, readReport, run } from './process.mjs';

const packages = {
  'linux-x64': ['@oven/bun-linux-x64', '@oven/bun-linux-x64-musl'],
  'linux-arm64': ['@oven/bun-linux-aarch64', '@oven/bun-linux-aarch64-musl'],
  'darwin-x64': ['@oven/bun-darwin-x64'],
  'darwin-arm64': ['@oven/bun-darwin-aarch64'],
};

export async function bun() {
  const program = fileOf(packages[`${process.platform}-${process.arch}`] ?? [], 'bin/bun', 'bun');
  const version = `bun ${(await run(program, ['--version'])).trim()}`;
  return { version, tests: readReport(await run(program, ['run', await bundle('main-console')])) };
}
