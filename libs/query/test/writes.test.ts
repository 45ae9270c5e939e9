import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { compileExpression, createParameters, type RequestValues } from '../src/index.ts';
import { type QueryFixture, requestWith, startTables } from './query-fixture.ts';
import { makeCollections, schemaOf } from './world.ts';

const collections = makeCollections({ users: null, organizations: null });
const scope = { collection: collections.posts, schema: schemaOf(collections), audience: 'rule' } as const;
const ada = { id: 'u1', email: 'ada@x.org', type: 'user' } as const;
const proved = { ...ada, collection: 'users', verified: true } as const;

describe('rules on writes', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startTables(collections);
    await fixture.fill({
      collections,
      records: {
        users: [{ id: 'u1', name: 'Ada', active: true, created: 0, updated: 0 }],
        posts: [{ id: 'p1', title: 'Old', rank: 1, tags: ['a'], meta: { a: 1 }, at: 5, created: 0, updated: 0 }],
      },
    });
  });
  after(() => fixture?.stop());

  /** Creates a record: the rule checks a row that is not stored yet, and the insert depends on it. */
  async function create(
    rule: string,
    title: string,
    author: string | null,
    values: Partial<RequestValues>,
  ): Promise<boolean> {
    const parameters = createParameters();
    const condition = compileExpression(rule, scope, { row: 'n', parameters, collation: fixture.collation });
    const given = { title: parameters.fixed(title, 'text'), author: parameters.fixed(author, 'text') };
    const rows = await fixture.database.query({
      text: `with n as (select ${given.title} as title, ${given.author} as author, 'p2' as id, 7::bigint as created_at)
        select from n where ${condition}`,
      values: parameters.values(requestWith({ method: 'POST', ...values })),
    });
    return rows.length > 0;
  }

  const creates: [string, string, string | null, Partial<RequestValues>, boolean][] = [
    ['author = @request.auth.id', 'x', 'u1', { auth: ada }, true],
    ['author = @request.auth.id', 'x', null, { auth: ada }, false],
    ['author = @request.auth.id', 'x', null, {}, false],
    ['@request.auth.collection = "users" && @request.auth.verified = true', 'x', null, { auth: proved }, true],
    ['@request.auth.verified = true', 'x', null, { auth: { ...proved, verified: false } }, false],
    ['@request.auth.verified != true', 'x', null, { auth: ada }, false],
    ['@request.auth.verified != true || @request.auth.collection != "users"', 'x', null, {}, false],
    ['author.active = true && title ~ "X"', 'x', 'u1', {}, true],
    ['author.active = true', 'x', 'u9', {}, false],
    ['@request.body.title:isset = true && @request.method = "POST"', 'x', null, { body: { title: 'x' } }, true],
    ['@request.body.title:isset = true', 'x', null, { body: {} }, false],
    ['@request.body.title:changed = true', 'x', null, { body: { title: 'x' } }, true],
    ['@request.body.title:changed = true', 'x', null, { body: { title: null } }, false],
    ['created = 7 && id = "p2"', 'x', null, {}, true],
  ];
  for (const [rule, title, author, values, expected] of creates) {
    it(`create ${JSON.stringify({ title, author, ...values })} under ${rule}: ${expected}`, async () =>
      assert.equal(await create(rule, title, author, values), expected));
  }

  /** Updates a record: the rule checks the stored row, and `@request.body` has the new values. */
  async function update(rule: string, body: Record<string, unknown>, auth?: RequestValues['auth']): Promise<boolean> {
    const parameters = createParameters();
    const place = { row: 'old', stored: 'old', parameters, collation: fixture.collation };
    const condition = compileExpression(rule, scope, place);
    const rows = await fixture.database.query({
      text: `with old as materialized (select t.* from records.posts t where t.id = 'p1' for update)
        select from old where ${condition}`,
      values: parameters.values(requestWith({ method: 'PATCH', body, auth })),
    });
    return rows.length > 0;
  }

  const updates: [string, Record<string, unknown>, boolean][] = [
    ['@request.body.title:changed = false', { title: 'Old' }, true],
    ['@request.body.title:changed = false', { title: 'New' }, false],
    ['@request.body.title:changed = false', {}, true],
    ['@request.body.title:changed = true', { title: null }, true],
    ['@request.body.rank:changed = false', { rank: 1 }, true],
    ['@request.body.rank:changed = false', { rank: '' }, false],
    ['@request.body.tags:changed = false', { tags: ['a', 'a'] }, true],
    ['@request.body.meta:changed = false', { meta: { a: 1.0 } }, true],
    ['@request.body.at:changed = false', { at: '1970-01-01T00:00:05Z' }, true],
    ['@request.body.at:changed = false', { at: '1970-01-01T00:00:06Z' }, false],
    ['title = "Old" && @request.body.title = "New"', { title: 'New' }, true],
    ['@request.body.rank > rank', { rank: 2 }, true],
    ['@request.body.rank > rank', { rank: 1 }, false],
    ['@request.body.tags = "b"', { tags: ['a', 'b'] }, true],
    ['@request.body.meta.a = 5', { meta: { a: 5 } }, true],
    ['@request.body.meta.a = null', { meta: {} }, true],
  ];
  for (const [rule, body, expected] of updates) {
    it(`update ${JSON.stringify(body)} under ${rule}: ${expected}`, async () =>
      assert.equal(await update(rule, body), expected));
  }

  it("a rule with the caller's id never holds for a guest, with any operator", async () => {
    for (const sign of ['=', '!=', '>', '>=', '<', '<=', '~', '!~']) {
      for (const other of [
        'author',
        'title',
        '""',
        '"u1"',
        'author.name',
        '@request.auth.email',
        '@request.body.title',
      ]) {
        for (const rule of [`@request.auth.id ${sign} ${other}`, `${other} ${sign} @request.auth.id`])
          assert.equal(await update(rule, {}), false, rule);
      }
    }
    for (const sign of ['=', '!=']) assert.equal(await update(`@request.auth.id ${sign} null`, {}), false);
    assert.equal(await update('@request.auth.id != null && @request.auth.id != author', {}, ada), true);
  });
});
