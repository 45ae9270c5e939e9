import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { compileExpression } from './expressions.ts';
import { createParameters } from './parameters.ts';

const collections = makeCollections({ users: null, organizations: null });
const schema = schemaOf(collections);
const scope = { collection: collections.posts, schema, audience: 'rule', caller: collections.users } as const;

/** The shapes that PostgreSQL plans well. A row that is no longer in a table has no links. */
const rows: [expression: string, sql: string, isTable?: boolean][] = [
  ['author = @request.auth.id', 't."author" = $1::text'],
  ['author != @request.auth.id', '($1::text is not null and t."author" is distinct from $1::text)'],
  ['title = Order', '(t."title" = t."Order" or (t."title" is null and t."Order" is null))'],
  [
    'author.organization.name != "test"',
    'not exists (select 1 from records."users" hop1 join records."organizations" hop2 on hop2.id = hop1."organization" where hop1.id = t."author" and hop2."name" = $1::text)',
  ],
  ['rank > 5 && tags = "a"', '(t."rank" > $1::double precision and t."tags" ? $2::text)'],
  ['not (rank > 5)', '(t."rank" > $1::double precision) is not true'],
  ['title in ("a", "b")', 't."title" = any($1::text[])'],
  [
    'comments_via_post.rank > 5',
    'exists (select 1 from records."comments" hop1 where hop1."post" = t.id and hop1."rank" > $1::double precision)',
  ],
  ['count(comments_via_post) > 0', 'exists (select 1 from records."comments" hop1 where hop1."post" = t.id)'],
  ['count(comments_via_post) = 0', 'not exists (select 1 from records."comments" hop1 where hop1."post" = t.id)'],
  [
    'count(comments_via_post) > 1',
    '(select count(*) from records."comments" hop1 where hop1."post" = t.id) > $1::double precision',
  ],
  [
    'exists(memberships, user = @request.auth.id && organization = record.author.organization)',
    '($1::text is not null and exists (select 1 from records."memberships" hop1, records."users" hop2 where hop1."user" = $1::text and hop2.id = t."author" and hop1."organization" = hop2."organization"))',
  ],
  [
    'readers = "u1"',
    'exists (select 1 from links."posts:readers" hop1 where hop1.owner = t.id and hop1.target = $1::text)',
    true,
  ],
  ['readers = "u1"', 't."readers" ? $1::text'],
  [
    'readers.name = "x"',
    'exists (select 1 from links."posts:readers" hop1 join records."users" hop2 on hop2.id = hop1.target where hop1.owner = t.id and hop2."name" = $1::text)',
    true,
  ],
  [
    'readers.name = "x"',
    'exists (select 1 from jsonb_array_elements_text(t."readers") hop1(target) join records."users" hop2 on hop2.id = hop1.target where hop2."name" = $1::text)',
  ],
];

describe('compiled SQL', () => {
  for (const [expression, sql, isTable] of rows)
    it(`of ${expression}${isTable ? ', of a table' : ''}`, () => {
      const compiled = compileExpression(expression, scope, {
        row: 't',
        parameters: createParameters(),
        ...(isTable && { isTable }),
      });
      assert.equal(compiled, sql);
    });
});
