import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findPatterns } from './find-patterns.ts';
import { findWeakness } from './find-weakness.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

const sources = ['libs', 'services', 'infra', 'examples'].map((folder) => `${folder}/**/*.{ts,cjs,mjs,js}`);

/** Tests only match their own texts. */
const isTest = (file: string): boolean => /\.test\.ts$|\/test\/|\/testing\//.test(file);

test('every pattern in the sources runs in linear time [cost §4.1]', () => {
  const files = globSync(sources, { cwd: repository, exclude: (name) => name === 'node_modules' });
  const patterns = files
    .filter((file) => !isTest(file))
    .flatMap((file) => findPatterns(join(repository, file)).map((pattern) => ({ file, ...pattern })));
  assert.ok(patterns.length > 150, `only ${patterns.length} patterns were found`);
  const weak = patterns.flatMap(({ file, line, source, flags }) => {
    const attack = findWeakness(source, flags);
    return attack === undefined ? [] : [`${file}:${line}  /${source}/${flags}  attack: ${attack}`];
  });
  assert.deepEqual(weak, []);
});

describe('weak and linear patterns', () => {
  const weak: readonly (readonly [about: string, expression: RegExp])[] = [
    ['an address', /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
    ['a number', /^(\d+\.?\d*|\.\d+)$/],
    ['trailing spaces', /\s+$/],
    ['nested quantifiers', /^(a+)+$/],
    ['alternatives with a common beginning', /^(?:a|ab|b)+$/],
    ['a word that two quantifiers repeat', /^(?:ab)*(?:ab)*$/],
    ['a search that starts again within its own match', /<!--.*-->/s],
    ['a back reference', /(x+)\1y/],
  ];
  for (const [about, { source, flags }] of weak)
    test(about, () => assert.notEqual(findWeakness(source, flags), undefined));
  const linear = [/^[a-z]+$/, /^\d{1,400}$/, /"[^"]*"/g, /<[^<>]*>|[^<]+/g, /^\s*-?\d+\s*$/, /[a-z]+/y];
  for (const { source, flags } of linear)
    test(`no weakness in /${source}/${flags}`, () => assert.equal(findWeakness(source, flags), undefined));
});

test('literals and calls of RegExp are found with their lines', () => {
  assert.deepEqual(findPatterns(join(import.meta.dirname, '../test/some-patterns.ts')), [
    { line: 2, source: '^a\\/b$', flags: 'u' },
    { line: 5, source: '(x+)+y', flags: 'g' },
  ]);
});
