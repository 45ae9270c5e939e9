import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { findNatsBinary } from './nats-binary.ts';
import { natsRelease } from './nats-release.ts';

const log = createLogger('test', 'silent');
const base = mkdtempSync(join(tmpdir(), 'nats-sources-'));
after(() => rmSync(base, { recursive: true }));

/** Finds a server where this program is the only source. */
function findBy(name: string, program: string): Promise<string> {
  const root = join(base, name);
  const searchPath = join(root, 'bin');
  mkdirSync(searchPath, { recursive: true });
  symlinkSync(program, join(searchPath, name));
  return findNatsBinary({ cacheDirectory: join(root, 'cache'), log, searchPath, importer: join(root, 'index.js') });
}

/** What the program prints: the path to itself. Undefined without it. */
function pathOf(program: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

const programs = {
  go: () => pathOf('which', 'go'),
  python3: () => pathOf('python3', '-c', 'import pip, sys; print(sys.executable)'),
};

for (const [name, find] of Object.entries(programs)) {
  const program = process.env.TEST_DOWNLOADS ? find() : undefined;
  const skip = program ? false : `needs ${name}, and TEST_DOWNLOADS=1: it downloads some megabytes`;
  test(`${name} brings the server`, { skip }, async () => {
    const binary = await findBy(name, program ?? '');
    const printed = execFileSync(binary, ['--version'], { encoding: 'utf8' });
    assert.equal(printed.trim(), `nats-server: v${natsRelease.version}`);
  });
}
