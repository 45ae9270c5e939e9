import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { AdminApi } from '../product/admin-api.ts';
import { tableOf } from '../product/product-layout.ts';
import type { Ground, Row } from './row.ts';

const indexed = 'articles';
const plain = 'plain_articles';
const count = Number(process.env.BENCH_SEARCH_RECORDS ?? 100_000);
const countAtOnce = 10_000;

/** The words by how frequent they are. With 45 of them a record's text has about 350 characters. */
const wordCount = 20_000;
const wordsOfRecord = 45;
const titleWords = 5;
const words = makeWords();

/** How frequent the searched words are: 8 is in half of the records, 500 in 1 %, 5,000 in 0.1 %. */
const frequency = { common: 8, usual: 500, rare: 5000 };
const questionCount = 20;

/** Searches by words, and what an index costs writes. The collection stays for the rows that follow. */
export const searches: readonly Row[] = [
  search('rare', 'a word that 0.1 % have', () => some(frequency.rare)),
  search('usual', 'a word that 1 % have', () => some(frequency.usual)),
  search('common', 'a word that half have', () => some(frequency.common, 3)),
  search('two', 'two words that 1 % and half have', () =>
    some(frequency.usual).map((word) => `${word} ${words[frequency.common]}`),
  ),
  search('prefix', 'the first four letters of a word', () => some(frequency.rare).map((word) => word.slice(0, 4))),
  search('typo', 'a typo', () => some(frequency.usual).map(exchange)),
  search('filter', 'a word that half have, filter open = true', () => some(frequency.common, 3), 'open = true'),
  search('owner', 'a word that half have, filter owner = "7", indexed', () => some(frequency.common, 3), 'owner = "7"'),
  create('search-create', `create in ${label()} with a search index`, indexed),
  create('search-create-none', `the same without one`, plain),
];

function label(): string {
  return count.toLocaleString('en');
}

function search(name: string, title: string, questions: () => readonly string[], filter?: string): Row {
  const more = `&fields=title&perPage=20${filter ? `&filter=${encodeURIComponent(filter)}` : ''}`;
  return {
    name: `search-${name}`,
    title: `search ${label()}: ${title}`,
    isWrite: false,
    isProductOnly: true,
    connections: 1,
    prepare,
    requests: () => ({
      method: 'GET',
      paths: questions().map((text) => `/api/v1/records/${indexed}?search=${encodeURIComponent(text)}${more}`),
    }),
  };
}

function create(name: string, title: string, collection: string): Row {
  return {
    name,
    title,
    isWrite: true,
    isProductOnly: true,
    connections: 1,
    prepare,
    requests: () => ({
      method: 'POST',
      paths: [`/api/v1/records/${collection}`],
      bodies: Array.from({ length: 200 }, () =>
        JSON.stringify({ title: randomText(titleWords), body: randomText(wordsOfRecord - titleWords) }),
      ),
    }),
  };
}

let isFilled = false;

async function prepare({ admin, database }: Ground): Promise<() => Promise<void>> {
  if (!isFilled) {
    for (const name of [indexed, plain]) await define(admin, database, name);
    const fields = [{ field: 'title', weight: 'A' }, { field: 'body' }];
    await admin.call('POST', indexesOf(indexed), { name: 'words', type: 'search', fields, language: 'english' });
    await untilReady(admin);
    await database.query(`vacuum (analyze) ${tableOf(indexed)}`);
    isFilled = true;
  }
  return async () => {};
}

async function define(admin: AdminApi, database: pg.Client, name: string): Promise<void> {
  await admin.call('POST', '/api/v1/collections', {
    name,
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'body', type: 'text' },
      { name: 'owner', type: 'text' },
      { name: 'open', type: 'bool' },
    ],
    list_rule: null,
    create_rule: null,
  });
  await admin.call('POST', indexesOf(name), { name: 'owners', columns: ['owner'] });
  for (let start = 0; start < count; start += countAtOnce) await fill(database, name, start);
}

const indexesOf = (collection: string): string => `/api/v1/admin/collections/${collection}/indexes`;

async function untilReady(admin: AdminApi): Promise<void> {
  const readIndexes = () => admin.call<readonly { readonly state?: string }[]>('GET', indexesOf(indexed));
  while ((await readIndexes()).some(({ state }) => state === 'building')) await sleep(200);
}

/** Records whose n-th most frequent word is n times as rare as the first. */
const fill = (database: pg.Client, collection: string, start: number) => {
  const length = Math.min(countAtOnce, count - start);
  const texts = (words: number) => Array.from({ length }, () => randomText(words));
  return database.query(
    `insert into ${tableOf(collection)} (id, title, body, owner, open, created_at, updated_at)
     select gen_random_uuid()::text, title, body, ((i + $3) % 1000)::text, i % 2 = 0, i + $3, i + $3
     from unnest($1::text[], $2::text[]) with ordinality t(title, body, i)`,
    [texts(titleWords), texts(wordsOfRecord - titleWords), start],
  );
};

const randomText = (length: number): string =>
  Array.from({ length }, () => words[Math.floor(wordCount ** Math.random()) - 1]).join(' ');

/** Words about as frequent as the one with this number. */
const some = (number: number, length = questionCount): readonly string[] => words.slice(number, number + length);

const exchange = (word: string): string => `${word.slice(0, 2)}${word.charAt(3)}${word.charAt(2)}${word.slice(4)}`;

/** Pronounceable words of 6 to 10 letters, the same in each run. */
function makeWords(): readonly string[] {
  let state = 1;
  const below = (max: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
  const letter = (letters: string) => letters.charAt(below(letters.length));
  const syllable = () => letter('bcdfghjklmnprstvwz') + letter('aeiou');
  const made = new Set<string>();
  while (made.size < wordCount) made.add(Array.from({ length: 3 + below(3) }, syllable).join(''));
  return [...made];
}
