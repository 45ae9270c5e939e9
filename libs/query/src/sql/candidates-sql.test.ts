import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { compileCandidates } from './candidates-sql.ts';
import { createParameters } from './parameters.ts';

const collections = makeCollections({ users: null, organizations: null });
const schema = schemaOf(collections);
const scope = { collection: collections.posts, schema, audience: 'rule', caller: collections.users } as const;

/** Rules, and the select for the accounts for which they may hold; undefined if the record does not lead to them. */
const rows: [rule: string, select: string | undefined][] = [
  ['author = @request.auth.id', 'select t."author"'],
  ['rank > 5 && author = @request.auth.id', 'select t."author"'],
  ['@request.auth.id != "" && @request.auth.id in readers', 'select jsonb_array_elements_text(t."readers")'],
  [
    'author = @request.auth.id || readers = @request.auth.id',
    'select t."author" union all select jsonb_array_elements_text(t."readers")',
  ],
  [
    'comments_via_post.author = @request.auth.id',
    '(select hop1."author" from records."comments" hop1 where hop1."post" = t.id)',
  ],
  [
    'exists(memberships, user = @request.auth.id && organization = record.author.organization)',
    'select hop2.id from records."memberships" hop1, records."users" hop3 cross join lateral (select hop1."user") hop2(id) where hop3.id = t."author" and hop1."organization" = hop3."organization"',
  ],
  [
    'author in @request.auth.follows',
    'select hop2.owner from (select t."author") hop1(id) join links."users:follows" hop2 on hop2.target = hop1.id',
  ],
  ['author = @request.auth.id || rank > 5', 'select t."author"'],
  ['author != @request.auth.id', undefined],
  ['not (author = @request.auth.id)', undefined],
  ['none(readers = @request.auth.id)', undefined],
  ['all(readers = @request.auth.id)', undefined],
  ['author = @request.auth.id || @request.auth.type = "admin"', undefined],
  ['rank > 5 || author != @request.auth.id', undefined],
  ['author in (@request.auth.id, "u1")', undefined],
  ['author.name = @request.auth.name', undefined],
  ['exists(memberships, user = @request.auth.id)', undefined],
  ['not (exists(memberships, user = @request.auth.id && organization = record.author.organization))', undefined],
  ['@request.headers.x = "1"', undefined],
];

describe('the accounts for which a rule may hold', () => {
  for (const [rule, select] of rows)
    it(`are ${select === undefined ? 'any' : 'some'} for ${rule}`, () =>
      assert.equal(compileCandidates(rule, scope, { row: 't', parameters: createParameters() })?.select, select));

  it('are all if a branch that reads no caller holds', () => {
    const everyoneOf = (rule: string) =>
      compileCandidates(rule, scope, { row: 't', parameters: createParameters() })?.everyone;
    assert.equal(everyoneOf('author = @request.auth.id'), undefined);
    assert.equal(everyoneOf('author = @request.auth.id || rank > 5'), '(t."rank" > $1::double precision)');
    assert.equal(
      everyoneOf('@request.auth.id != "" && title = "a" && (rank > 5 || author = @request.auth.id)'),
      '(t."title" = $1::text and (t."rank" > $2::double precision))',
    );
  });
});
