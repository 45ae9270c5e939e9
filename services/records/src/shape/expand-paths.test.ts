import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultOptions, readExpandPaths } from './expand-paths.ts';

const options = (expand: string) => readExpandPaths(expand)[0]?.[0]?.options;
const given = (more: object) => ({ ...defaultOptions, ...more });

test('expand is split into paths and names', () => {
  const names = readExpandPaths('a.b, c(limit:1).d ,e').map((path) => path.map(({ name }) => name));
  assert.deepEqual(names, [['a', 'b'], ['c', 'd'], ['e']]);
  assert.deepEqual(readExpandPaths('a')[0]?.[0], { name: 'a', options: undefined });
});

test("a name's options are read", () => {
  assert.deepEqual(options('a(limit:7, total : 1)'), given({ limit: 7, hasTotal: true }));
  assert.deepEqual(options('a(sort:-b,c,total:0)'), given({ sort: '-b,c' }));
  assert.deepEqual(
    options('a(filter:b in ("x)", \'y,\') && c = "\\"(",sort:distance(p, 1, 2),d)'),
    given({
      filter: 'b in ("x)", \'y,\') && c = "\\"("',
      sort: 'distance(p, 1, 2),d',
    }),
  );
  assert.deepEqual(options('a(filter:b = 1 // limit:2)\n,limit:3)'), given({ filter: 'b = 1 // limit:2)', limit: 3 }));
  assert.deepEqual(options('a(filter: ,sort:)'), given({}));
});

test('invalid texts are refused', () => {
  const refused = [
    'a()',
    'a(',
    'a)',
    'a(limit:1))',
    'a(limit:1)b',
    'a(limit)',
    'a(x:1)',
    'a(filter:b,c)',
    'a(limit:-1)',
    'a(limit:1.5)',
    'a(filter:"b)',
  ];
  for (const expand of refused) assert.throws(() => readExpandPaths(expand), { status: 400 }, expand);
});

// The runner ends a file that takes minutes, as in quadratic time.
test('long texts are read in linear time', () => {
  for (const part of ['(', ')', 'a(', '"', "a('", '//', ',', 'a(sort:', '\\"', 'sort: '])
    assert.doesNotThrow(() => {
      try {
        readExpandPaths(`a(${part.repeat(1_000_000)}`);
      } catch (error) {
        if (!(error instanceof Error && 'status' in error)) throw error;
      }
    });
});
