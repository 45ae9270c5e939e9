import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/**
 * A merge conflict's first and last lines, and the line before the common version. A line with `=======` alone may
 * underline a Markdown heading, and never comes without the others.
 */
const marker = /^(?:<{7}|\|{7}|>{7})(?: .*)?\r?$/;

/** Returns the line numbers, from 1, that a merge with conflicts left in a text. */
const findConflictMarkers = (text: string): number[] =>
  text.split('\n').flatMap((line, index) => (marker.test(line) ? [index + 1] : []));

const root = join(import.meta.dirname, '../../..');
const ignoredFolders = readFileSync(join(root, '.gitignore'), 'utf8')
  .split('\n')
  .flatMap((line) => (line.endsWith('/') ? [line.slice(0, -1)] : []));
const excluded = new Set(['.git', ...ignoredFolders]);
const files = globSync(['**/*', '{**/,}.*', '{**/,}.*/**/*'], {
  cwd: root,
  exclude: ({ name }) => excluded.has(name),
  withFileTypes: true,
})
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name));

test('no file has conflict markers', () => {
  assert.ok(files.length > 1500, `${files.length} files were found`);
  const found = files.flatMap((file) =>
    findConflictMarkers(readFileSync(file, 'utf8')).map((line) => `${file}:${line}`),
  );
  assert.deepEqual(found, []);
});

test('conflict markers are found where a merge writes them', () => {
  const mark = (sign: string) => sign.repeat(7);
  const text = [
    `${mark('<')} HEAD`,
    'ours',
    `${mark('|')} base`,
    'old',
    mark('='),
    'theirs',
    `${mark('>')} main`,
    'last',
  ];
  assert.deepEqual(findConflictMarkers(text.join('\n')), [1, 3, 7]);
  assert.deepEqual(findConflictMarkers(text.join('\r\n')), [1, 3, 7]);
});

test("a heading's underline is not a conflict marker", () => {
  assert.deepEqual(findConflictMarkers(`Heading\n${'='.repeat(7)}\n`), []);
});
