import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { findDeadCitations, fragmentsOf, sectionsOf } from './citations.ts';

const root = join(import.meta.dirname, '../../..');
const folders = '{docs,examples,infra,libs,services,tests}';
const endings = '{ts,js,mjs,md,sql,json,yml,yaml,sh}';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: (name) => name === 'node_modules' }).sort();

const pages = filesOf('docs/reference/*.md').filter((file) => basename(file) !== 'README.md');
const nameOf = (page: string) => basename(page, '.md');
const sections = new Map(pages.map((page) => [nameOf(page), sectionsOf(read(page))]));

/** A reference page cites its own sections by § alone. */
const ownPageOf = (file: string) => (pages.includes(file) ? nameOf(file) : undefined);

test('every citation of the reference leads to a section', () => {
  const own = join('infra', 'docs', 'src', 'citations');
  const files = filesOf(`*.${endings}`, `${folders}/**/*.${endings}`).filter((file) => !file.startsWith(own));
  assert.ok(files.length > 1000, `${files.length} files were found`);
  assert.ok(pages.length > 10);
  const dead = files.flatMap((file) =>
    findDeadCitations(read(file), sections, ownPageOf(file)).map(({ line, text }) => `${file}:${line}: ${text}`),
  );
  assert.deepEqual(dead, []);
});

test("a page's sections are numbered in order", () => {
  for (const page of pages) {
    const numbers = [...(sections.get(nameOf(page)) ?? [])];
    assert.ok(numbers.length > 0, `${page} has no numbered sections`);
    const headings = [...read(page).matchAll(/^##+ (\d+(?:\.\d+)?)/gm)].map(([, number = '']) => number);
    assert.deepEqual(headings, numbers, `a number in ${page} is duplicated, or not written like the others`);
    const ordered = numbers.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    assert.deepEqual(numbers, ordered, page);
  }
});

test('the page list is complete', () => {
  const list = read('docs/reference/README.md');
  const missing = pages.filter((page) => !list.includes(`(${basename(page)})`));
  assert.deepEqual(missing, []);
});

test('links between documents lead to a file and to a heading', () => {
  const files = filesOf('*.md', 'docs/**/*.md', 'examples/*/*.md', 'services/*/*.md');
  const dead = files.flatMap((file) =>
    [...read(file).matchAll(/\]\(([^)\s:]+\.md)(?:#([^)\s]+))?\)/g)].flatMap(([, path = '', fragment]) => {
      const target = relative(root, join(root, dirname(file), path));
      const isThere = filesOf(target).length > 0 && (!fragment || fragmentsOf(read(target)).has(fragment));
      return isThere ? [] : [`${file}: ${path}${fragment ? `#${fragment}` : ''}`];
    }),
  );
  assert.deepEqual(dead, []);
});

test('a citation without a section is reported with its line', () => {
  const known = new Map([['records', new Set(['4', '4.2'])]]);
  const deadIn = (text: string, own?: string) =>
    findDeadCitations(text, known, own).map(({ line, text }) => `${line} ${text}`);
  assert.deepEqual(deadIn('// see records §4.2\n/* records §4.3, §4, §5.1 */'), ['2 records §4.3', '2 records §5.1']);
  assert.deepEqual(deadIn('(records\n * §4.2, records\n// §9)'), ['2 records §9']);
  assert.deepEqual(deadIn("spec: 'record §4.2'"), ['1 record §4.2']);
  assert.deepEqual(deadIn('(RFC 9110 §8.6 and §9.9), Fetch §3.2, §99'), []);
  assert.deepEqual(deadIn('[http §77](http.md)'), ['1 http §77']);
  assert.deepEqual(deadIn('§4, in §4.9, See §5, RFC 9110 §88', 'records'), ['1 in §4.9', '1 See §5']);
});

test('sections and fragments are read from headings', () => {
  const page = '# Records\n\n## 4. Lists\n\n### 4.2 `page`: which one?\n\ntext §5\n';
  assert.deepEqual([...sectionsOf(page)], ['4', '4.2']);
  assert.deepEqual([...fragmentsOf(page)], ['records', '4-lists', '42-page-which-one']);
});
