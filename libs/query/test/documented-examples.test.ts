import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import type { TestField } from '@recordbus/schema/testing';
import { compileExpression, compileSort, createParameters, QueryError, type RequestValues } from '../src/index.ts';
import { type QueryFixture, requestWith, startTables } from './query-fixture.ts';
import { type Item, schemaOf, testCollection } from './world.ts';

const page = readFileSync(new URL('../../../docs/rules-and-filters.md', import.meta.url), 'utf8');

const relation = (name: string, collection: string): TestField => ({ name, type: 'relation', collection });

const makeCollections = (users: string | null) => {
  const people = [{ name: 'name' }, relation('team', 'teams'), { name: 'org' }, relation('manager', 'users')];
  const open = { view: null };
  return {
    teams: testCollection('teams', [{ name: 'name' }, relation('parent', 'teams')], open),
    users: { ...testCollection('users', people, { view: users }), type: 'auth' as const },
    posts: testCollection('posts', [
      { name: 'title' },
      { name: 'rank', type: 'number' },
      { name: 'published', type: 'bool' },
      { name: 'due', type: 'date' },
      { name: 'tags', type: 'select', options: { values: ['news', 'News', 'url'], multiple: true } },
      { name: 'meta', type: 'json' },
      relation('author', 'users'),
      relation('team', 'teams'),
      { name: 'org' },
    ]),
    comments: testCollection(
      'comments',
      [{ name: 'text' }, relation('post', 'posts'), relation('author', 'users')],
      open,
    ),
    memberships: testCollection(
      'memberships',
      [relation('user', 'users'), relation('team', 'teams'), { name: 'role' }],
      open,
    ),
    shares: testCollection('shares', [relation('post', 'posts'), { name: 'token' }]),
    blocks: testCollection('blocks', [relation('by', 'users'), relation('who', 'users')]),
  };
};

/** Returns the rows in tables whose first column has this title, without the cells' backquotes. */
function rowsOf(title: string): string[][] {
  const tables = page.split('\n\n').filter((block) => block.startsWith(`| ${title} |`));
  assert.ok(tables.length > 0, `the page has no table "${title}"`);
  return tables.flatMap((table) => table.trim().split('\n').slice(2).map(readRow));
}

const readRow = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) =>
      cell
        .trim()
        .replaceAll('\\|', '|')
        .replace(/^`(.*)`$/, '$1'),
    );

function readRecords(): Record<string, Item[]> {
  const [, json = ''] = /```json records\n(.*?)\n```/s.exec(page) ?? [];
  const records: Record<string, Item[]> = JSON.parse(json);
  const times = { created: 1_700_000_000, updated: 1_700_000_000 };
  return Object.fromEntries(
    Object.entries(records).map(([name, items]) => [name, items.map((item) => ({ ...item, ...times }))]),
  );
}

function readRequest(text: string): RequestValues {
  if (text === 'guest') return requestWith();
  if (text.startsWith('?')) return requestWith({ query: (name) => new URLSearchParams(text).get(name) ?? undefined });
  if (text.startsWith('{')) return requestWith({ body: JSON.parse(text) });
  return requestWith({ auth: { id: text, email: `${text}@x.org`, type: 'user', collection: 'users' } });
}

describe('the examples in docs/rules-and-filters.md', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;
  before(async () => {
    const collections = makeCollections(null);
    fixture = await startTables(collections);
    await fixture.fill({ collections, records: readRecords() });
  });
  after(() => fixture?.stop());

  const scopeOf = (
    audience: 'rule' | 'client',
    { users = null, of = 'posts' }: { readonly users?: string | null; readonly of?: 'posts' | 'comments' } = {},
  ) => {
    const collections = makeCollections(users);
    return { collection: collections[of], schema: schemaOf(collections), audience };
  };

  async function find(text: string, scope: ReturnType<typeof scopeOf>, request = requestWith()): Promise<string> {
    const parameters = createParameters();
    const place = { row: 't', stored: 't', parameters, collation: fixture.collation };
    const caller = request.auth && scope.schema.findCollection('users');
    const condition = compileExpression(text, { ...scope, caller }, place);
    const rows = await fixture.database.query<{ id: string }>({
      text: `select t.id from records."${scope.collection.name}" t where ${condition} order by t.id`,
      values: parameters.values(request),
    });
    return rows.map(({ id }) => id).join(' ');
  }

  // A table "Refused" has the same first column; its second has the reason.
  for (const [filter = '', expected] of rowsOf('filter'))
    if (/^(p\d ?)*$/.test(expected ?? ''))
      it(`finds by ${filter}: ${expected}`, async () => assert.equal(await find(filter, scopeOf('client')), expected));
    else
      it(`refuses ${filter}`, () =>
        assert.rejects(
          () => find(filter, scopeOf('client')),
          (error) => error instanceof QueryError && error.message === expected,
        ));

  for (const [filter = '', expected] of rowsOf('filter with hidden users'))
    it(`finds by ${filter}, with Ada hidden: ${expected}`, async () =>
      assert.equal(await find(filter, scopeOf('client', { users: 'name != "Ada"' })), expected));

  for (const [rule = '', request = '', expected] of rowsOf('rule'))
    it(`finds under ${rule} for ${request}: ${expected}`, async () =>
      assert.equal(await find(rule, scopeOf('rule'), readRequest(request)), expected));

  for (const [rule = '', request = '', expected] of rowsOf('rule of comments'))
    it(`finds comments under ${rule} for ${request}: ${expected}`, async () =>
      assert.equal(await find(rule, scopeOf('rule', { of: 'comments' }), readRequest(request)), expected));

  for (const [sort = '', expected] of rowsOf('sort'))
    it(`sorts by ${sort}`, async () => {
      const { joins, orderBy } = compileSort(sort, scopeOf('client'), { row: 't', parameters: createParameters() });
      const text = `select t.id from records.posts t ${joins} order by ${orderBy}`;
      const rows = await fixture.database.query<{ id: string }>({ text, values: [] });
      assert.equal(rows.map(({ id }) => id).join(' '), expected);
    });
});
