import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { compileByCaller } from './compile-by-caller.ts';
import { createParameters } from './parameters.ts';

const collections = makeCollections({ users: null, organizations: null });
const schema = schemaOf(collections);
const scope = { collection: collections.posts, schema, audience: 'rule', caller: collections.users } as const;

const rows: [rule: string, conditions: readonly string[]][] = [
  ['author = @request.auth.id', ['t."author" = $1::text']],
  ['rank > 5 || title = "a"', ['(t."rank" > $1::double precision or t."title" = $2::text)']],
  [
    'author = @request.auth.id || rank > 5',
    [
      '(t."rank" > $1::double precision)',
      '((t."rank" > $1::double precision) is not true and (t."author" = $2::text))',
    ],
  ],
  [
    'ok = true && (author = @request.auth.id || rank > 5)',
    [
      '(t."ok" = $1::boolean and (t."rank" > $2::double precision))',
      '((t."ok" = $1::boolean and (t."rank" > $2::double precision)) is not true and (t."ok" = $3::boolean and (t."author" = $4::text)))',
    ],
  ],
];

describe('conditions split by what reads the caller', () => {
  for (const [rule, conditions] of rows)
    it(`are ${conditions.length} for ${rule}`, () =>
      assert.deepEqual(compileByCaller(rule, scope, { row: 't', parameters: createParameters() }), conditions));
});
