import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { commentedEndings, commentsOf, countWords, proseOf, type WordCount } from '../test/prose.ts';

const root = join(import.meta.dirname, '../../..');
const find = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (name) => ['node_modules', 'dist', 'data'].includes(name) });
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** How many words in 100 may be "of". */
const limit = 2.5;

/** A place with fewer words is counted together with the others in its area. */
const minWords = 200;

const everywhere = '{docs,examples,infra,libs,services,tests}/**';

/** Returns the words in each package's comments and on each page. */
function countPlaces(): Map<string, WordCount> {
  const counts = new Map<string, WordCount>();
  const add = (place: string, { words, ofs }: WordCount): void => {
    const before = counts.get(place) ?? { words: 0, ofs: 0 };
    counts.set(place, { words: before.words + words, ofs: before.ofs + ofs });
  };
  // The longest first, since tests/load lies within tests.
  const packages = find(`${everywhere}/package.json`)
    .map(dirname)
    .sort((one, other) => other.length - one.length);
  for (const file of find(`${everywhere}/*.{${commentedEndings.join()}}`)) {
    const folder = packages.find((name) => file.startsWith(`${name}/`)) ?? file.split('/').slice(0, 2).join('/');
    add(folder, countWords(commentsOf(file, read(file))));
  }
  for (const page of [...find('*.md'), ...find(`${everywhere}/*.md`)]) add(page, countWords(proseOf(shownPart(page))));
  return gatherSmall(counts);
}

/** A released version's changes stay as they were written. */
function shownPart(page: string): string {
  const text = read(page);
  return page === 'CHANGELOG.md' ? (text.split(/^## /m)[1] ?? '') : text;
}

function gatherSmall(counts: ReadonlyMap<string, WordCount>): Map<string, WordCount> {
  const gathered = new Map<string, WordCount>();
  for (const [place, { words, ofs }] of counts) {
    const area = place.split('/')[0];
    const name = words >= minWords ? place : `${area}, small ${place.endsWith('.md') ? 'pages' : 'packages'}`;
    const before = gathered.get(name) ?? { words: 0, ofs: 0 };
    gathered.set(name, { words: before.words + words, ofs: before.ofs + ofs });
  }
  return gathered;
}

test('comments and pages have noun compounds instead of chains with "of"', () => {
  const places = countPlaces();
  assert.ok(places.size > 100, `${places.size} places were found`);
  const tooMany = Array.from(places, ([place, { words, ofs }]) => ({ place, share: (100 * ofs) / Math.max(words, 1) }))
    .filter(({ share }) => share > limit)
    .map(({ place, share }) => `${place}: ${share.toFixed(2)} "of"s in 100 words, ${limit} allowed`);
  assert.deepEqual(tooMany, []);
});

test('words are counted in comments of every form, never in code', () => {
  const script = ['/** One of `two of them`. */', "const url = 'https://of.of'; // three", '  // of', 'of();'].join(
    '\n',
  );
  assert.deepEqual(countWords(commentsOf('a.ts', script)), { words: 4, ofs: 2 });
  assert.deepEqual(countWords(commentsOf('a.svelte', `<!-- Of -->\n<p>of</p>\n${script}`)), { words: 5, ofs: 3 });
  assert.deepEqual(countWords(commentsOf('a.sql', "-- of one\nselect 'of'")), { words: 2, ofs: 1 });
  assert.deepEqual(countWords(commentsOf('a.yaml', '# of one\nname: of # two\n{{- /* of */ -}}')), {
    words: 4,
    ofs: 2,
  });
});

test("words are counted in a page's text, never in code or link addresses", () => {
  const page = '# Of one\n\n`of` [two](of/of.md) <of>\n\n```sh\nof of\n```\n| of |';
  assert.deepEqual(countWords(proseOf(page)), { words: 4, ofs: 2 });
});
