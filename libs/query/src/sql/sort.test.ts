import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { QueryError } from '../query-error.ts';
import { createParameters } from './parameters.ts';
import { compileSort } from './sort.ts';

const collections = makeCollections({ users: 'active = true', organizations: null });
const scope = { collection: collections.posts, schema: schemaOf(collections), audience: 'client' } as const;
function sortBy(sort: string) {
  const { keys, ...sql } = compileSort(sort, scope, { row: 't', parameters: createParameters() });
  assert.equal(keys.map((key) => `${key.sql}${key.isDescending ? ' desc' : ''}`).join(', '), sql.orderBy);
  return sql;
}

describe('sort', () => {
  const rows: [string, string, string][] = [
    ['newest first', '-created', 't.created_at desc, t.id desc'],
    ['the times by their public names', 'created_at,-updated_at', 't.created_at, t.updated_at desc, t.id desc'],
    ['fields, ties by id in the direction of the last', '-title, Order', 't."title" desc, t."Order", t.id'],
    ['nothing after the id', 'title,-id,Order', 't."title", t.id desc'],
    ['keys of JSON', 'meta.a.0', `(t."meta" #> '{"a","0"}'), t.id`],
  ];
  for (const [title, sort, expected] of rows) {
    it(title, () => assert.deepEqual(sortBy(sort), { joins: '', orderBy: expected }));
  }

  it('joins each relation once, and only records that the caller may view', () => {
    assert.deepEqual(sortBy('author.organization.name,-author.name,author.organization.size'), {
      joins:
        'left join records."users" hop1 on hop1.id = t."author" and hop1."active" = $1::boolean ' +
        'left join records."organizations" hop2 on hop2.id = hop1."organization"',
      orderBy: 'hop2."name", hop1."name" desc, hop2."size", t.id',
    });
  });

  it('marks the keys that can be null', () => {
    const { keys } = compileSort('created,title,author.id', scope, { row: 't', parameters: createParameters() });
    assert.deepEqual(
      keys.map(({ kind, canBeNull }) => [kind, canBeNull]),
      [
        ['date', false],
        ['text', true],
        ['text', true],
        ['text', false],
      ],
    );
  });

  const refused: [string, RegExp][] = [
    ['titel', /posts has no field "titel"/],
    ['order', /no field "order"/],
    ['title,,Order', /no field ""/],
    ['--title', /no field "-title"/],
    ['', /no field ""/],
    ['constructor', /no field "constructor"/],
    ['author.secret', /author has no field "secret"/],
    ['secret', /cannot be compared or sorted by/],
    ['@request.auth.id', /no field "@request.auth.id"/],
    ['title:lower', /no field "title:lower"/],
    ['id,id,id,id,id,id,id,id,id', /at most 8 terms/],
    ['id,-anything', /no field "anything"/],
    ['parent.parent.parent.parent.parent.parent.parent.id', /at most 6 relations/],
  ];
  for (const [sort, message] of refused) {
    it(`refuses ${JSON.stringify(sort)}`, () =>
      assert.throws(
        () => sortBy(sort),
        (error) => error instanceof QueryError && message.test(error.message),
      ));
  }
});
