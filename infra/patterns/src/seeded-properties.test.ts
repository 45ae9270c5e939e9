import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isNode, lineOf, nameOf, visitSource } from './source-tree.ts';

const repository = join(import.meta.dirname, '../../..');
const running = new Set(['assert', 'check', 'sample']);

/** Returns the lines in a file at which fast-check chooses other values in each run. */
function unseededIn(path: string): number[] {
  const lines: number[] = [];
  visitSource(
    path,
    (node) => {
      const callee: unknown = Reflect.get(node, 'callee');
      if (node.type !== 'CallExpression' || !isNode(callee) || nameOf(Reflect.get(callee, 'object')) !== 'fc') return;
      if (!running.has(nameOf(Reflect.get(callee, 'property')) ?? '')) return;
      const parameters: unknown = (Reflect.get(node, 'arguments') as unknown[])[1];
      const members = isNode(parameters) ? ((Reflect.get(parameters, 'properties') ?? []) as object[]) : [];
      if (!members.some((member) => nameOf(Reflect.get(member, 'key')) === 'seed')) lines.push(lineOf(node));
    },
    /fast-check/,
  );
  return lines;
}

test('properties are tested with the same values in each run', () => {
  const files = globSync('{libs,services,infra,tests}/**/*.ts', {
    cwd: repository,
    exclude: (name) => name === 'node_modules' || name === 'load',
  });
  const own = 'infra/patterns/test/some-properties.ts';
  assert.deepEqual(
    files
      .filter((file) => file !== own)
      .flatMap((file) => unseededIn(join(repository, file)).map((line) => `${file}:${line}`)),
    [],
  );
});

test('properties without a seed are found', () => {
  assert.deepEqual(unseededIn(join(import.meta.dirname, '../test/some-properties.ts')), [5, 7]);
});
