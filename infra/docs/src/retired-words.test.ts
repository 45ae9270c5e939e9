import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const glossary = 'docs/glossary.md';
const files = globSync(
  ['*.md', '{docs,examples,infra,libs,services,tests}/**/*.{ts,js,svelte,mjs,cjs,md,sql,sh,yml,yaml}'],
  {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  },
).filter((file) => file !== glossary);

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Returns the terms in a glossary table's first column. */
function retiredTerms(heading: string): string[] {
  const table = read(glossary).split(`| ${heading} | write |`)[1]?.split('\n\n')[0] ?? '';
  const cells = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.split(', ')).map((term) => term.trim().replaceAll('`', ''));
}

/** Returns each place where a term is, as `file:line: term`. */
function findTerms(terms: readonly string[], flags: string): string[] {
  assert.ok(terms.length > 10, `the glossary lists ${terms.length} terms`);
  const pattern = new RegExp(`\\b(${terms.join('|')})\\b`, flags);
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => {
        const found = pattern.exec(line);
        return found ? [`${file}:${index + 1}: ${found[0]}`] : [];
      }),
  );
}

test('no file has retired words', () => {
  assert.ok(files.length > 1000, `${files.length} files were found`);
  assert.deepEqual(findTerms(retiredTerms('instead of'), 'i'), []);
});

test('no file has retired names', () => {
  assert.deepEqual(findTerms(retiredTerms('instead of the name'), ''), []);
});
