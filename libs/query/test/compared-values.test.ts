import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import type { RequestValues } from '../src/index.ts';
import { type QueryFixture, requestWith, startTables } from './query-fixture.ts';
import { answerOf, composeFind } from './statements.ts';
import { makeCollections, schemaOf } from './world.ts';

const collections = makeCollections({ users: null, organizations: null });
const times = { created: 0, updated: 0 };
const ada = { id: 'u1', email: 'ada@x.org', type: 'user', collection: 'users' } as const;

/** Expressions that the property test found to be wrong before. */
describe('compared values', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startTables(collections);
    await fixture.fill({
      collections,
      records: {
        organizations: ['o1', 'o2'].map((id) => ({ id, name: id, ...times })),
        users: [{ id: 'u1', name: 'Ada', organization: 'o1', follows: [], ...times }],
        memberships: [
          { id: 'm1', user: 'u1', organization: 'o1', kind: 'a', ...times },
          { id: 'm2', user: 'u1', organization: 'o2', kind: 'b', ...times },
        ],
        posts: [
          { id: 'p1', title: 'ada', meta: 'ada', readers: [], ...times },
          { id: 'p2', title: 'x', meta: 5, readers: [], ...times },
        ],
        comments: [{ id: 'c1', post: 'p1', author: null, ...times }],
      },
    });
  });
  after(() => fixture?.stop());

  const find = async (rule: string, values: Partial<RequestValues>) => {
    const { posts: collection, users } = collections;
    const caller = values.auth ? users : undefined;
    const scope = { collection, schema: schemaOf(collections), audience: 'rule', caller } as const;
    return answerOf(fixture, composeFind(fixture, rule, requestWith(values))(scope));
  };

  const rules: [string, string[]][] = [
    ['@request.auth.memberships_via_user.kind in ("b", "c")', ['p1', 'p2']],
    ['@request.auth.memberships_via_user.kind in ("c")', []],
    [
      '@request.auth.memberships_via_user.organization = @request.auth.memberships_via_user.organization.name',
      ['p1', 'p2'],
    ],
    ['@request.auth.memberships_via_user.kind = @request.auth.memberships_via_user.organization', []],
    ['meta = @request.auth.name:lower', ['p1']],
    ['not (meta = @request.auth.memberships_via_user.user.name:lower)', ['p2']],
    ['comments_via_post.author = null', ['p1']],
    ['comments_via_post.author.id = null', []],
    ['none(@request.auth.memberships_via_user.user.organization.size != @request.query.q)', []],
    ['all(comments_via_post.author.id != null)', ['p1', 'p2']],
  ];
  for (const [rule, ids] of rules)
    it(`${rule} finds ${ids.join(', ') || 'nothing'}`, async () =>
      assert.deepEqual(await find(rule, { auth: ada }), { ids }));

  it("a list's length is a number even where all entries of a list are compared with it", async () => {
    const rule = 'all(@request.body.tags ~ tags:length)';
    assert.deepEqual(await find(rule, { body: { tags: ['10', '0'] } }), { ids: ['p1', 'p2'] });
    assert.deepEqual(await find(rule, { body: { tags: ['10', '1'] } }), { ids: [] });
  });

  it('a test with different kinds of items never holds for a caller who lacks one', async () => {
    for (const rule of ['"5" in (5, @request.auth.id)', '@request.query.q in (5, @request.auth.id)']) {
      const query = () => '5';
      assert.deepEqual(await find(rule, { query }), { ids: [] }, rule);
      assert.deepEqual(await find(`not (${rule})`, { query }), { ids: [] }, rule);
      assert.deepEqual(await find(rule, { query, auth: ada }), { ids: ['p1', 'p2'] }, rule);
    }
  });
});
