import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import fc from 'fast-check';
import { compileExpression, compileSort, createParameters, QueryError, type RequestValues } from '../src/index.ts';
import { parse } from '../src/parser.ts';
import type { Scope } from '../src/scope.ts';
import { evaluate, valueAt } from './evaluator.ts';
import { expressionArbitrary, requestArbitrary, sortArbitrary } from './expression-arbitrary.ts';
import { print } from './print.ts';
import { type QueryFixture, requestWith, startTables } from './query-fixture.ts';
import { listRules, makeCollections, organizationRules, recordsArbitrary, schemaOf, type World } from './world.ts';

const rulesArbitrary = fc.record({
  users: fc.constantFrom(...listRules),
  organizations: fc.constantFrom(...organizationRules),
});

describe('compiled SQL', { skip: skipWithoutDatabase }, () => {
  const open = makeCollections({ users: null, organizations: null });
  let fixture: QueryFixture;
  let records: World['records'];

  before(async () => {
    fixture = await startTables(open);
    records = fc.sample(recordsArbitrary, 1)[0] ?? {};
    await fixture.fill({ collections: open, records });
  });
  after(() => fixture?.stop());

  /** Returns the ids that a statement over `posts` finds; undefined when its text is refused. */
  async function findIds(compose: () => { text: string; values: unknown[] }): Promise<string[] | undefined> {
    let statement: { text: string; values: unknown[] };
    try {
      statement = compose();
    } catch (error) {
      assert.ok(error instanceof QueryError, String(error));
      return undefined;
    }
    const rows = await fixture.database.query<{ id: string }>(statement);
    return rows.map(({ id }) => id);
  }

  const compose = (text: string, scope: Scope, request: RequestValues) => () => {
    const parameters = createParameters();
    const place = { row: 't', stored: 't', parameters, collation: fixture.collation };
    const condition = compileExpression(text, scope, place);
    return {
      text: `select t.id from records.posts t where ${condition} order by t.id`,
      values: parameters.values(request),
    };
  };

  for (const audience of ['rule', 'client', 'admin'] as const) {
    it(`finds the records that an expression describes, audience: ${audience}`, async () => {
      let compared = 0;
      const property = fc.asyncProperty(
        expressionArbitrary(audience === 'rule'),
        requestArbitrary,
        rulesArbitrary,
        async (expression, request, rules) => {
          const collections = makeCollections(rules);
          const scope = { collection: collections.posts, schema: schemaOf(collections), audience };
          const text = print(expression);
          const ids = await findIds(compose(text, scope, request));
          if (!ids) return;
          compared += 1;
          const parsed = parse(text);
          const situation = { world: { collections, records }, collection: scope.collection, request, audience };
          const expected = (records.posts ?? []).filter((record) => evaluate(parsed, { ...situation, record }));
          assert.deepEqual(ids, expected.map(({ id }) => String(id)).sort(), `${text} ${JSON.stringify(request)}`);
        },
      );
      await fc.assert(property, { numRuns: 400 });
      assert.ok(compared > 200, `only ${compared} of 400 expressions were accepted`);
    });
  }

  it('sorts by the value at the end of a path, nulls last ascending and first descending, ties by id', async () => {
    const property = fc.asyncProperty(
      sortArbitrary,
      requestArbitrary,
      rulesArbitrary,
      async (terms, request, rules) => {
        const collections = makeCollections(rules);
        const scope = { collection: collections.posts, schema: schemaOf(collections), audience: 'client' as const };
        const sort = terms.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${path}`).join(',');
        const ids = await findIds(() => {
          const parameters = createParameters();
          const { joins, orderBy } = compileSort(sort, scope, { row: 't', parameters, collation: fixture.collation });
          return {
            text: `select t.id from records.posts t ${joins} order by ${orderBy}`,
            values: parameters.values(request),
          };
        });
        const situation = {
          world: { collections, records },
          collection: scope.collection,
          request,
          audience: scope.audience,
        };
        const idOf = { path: 'id', isDescending: terms.at(-1)?.isDescending ?? false };
        const keyed = (records.posts ?? []).map((record) => ({
          id: String(record.id),
          keys: [...terms, idOf].map(({ path }) => valueAt(path, { ...situation, record })),
        }));
        keyed.sort((a, b) => compareKeys(a.keys, b.keys, [...terms, idOf]));
        assert.deepEqual(
          ids,
          keyed.map(({ id }) => id),
          sort,
        );
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  it('runs every expression that it compiles, with any request', async () => {
    const pieces = [
      ...[
        'title',
        'rank',
        'ok',
        'at',
        'tags',
        'meta',
        'meta.a',
        'author.name',
        'author.id',
        'parent.tags',
        'Order:lower',
      ],
      ...['@request.auth.id', '@request.body.meta', '@request.body.tags', '@request.body.title', '@request.query.q'],
      ...[
        '@request.body.rank:changed',
        '@request.body.title:lower',
        '@request.headers.h:isset',
        '@now',
        'null',
        'true',
      ],
      ...[
        '5',
        '-0.0',
        '99999999999999999999',
        '""',
        '"%_\\\\"',
        String.raw`"\"'$1"`,
        '"\u{10ffff}"',
        '"2024-01-01"',
        '"1"',
      ],
    ];
    const comparison = fc
      .tuple(
        fc.constantFrom(...pieces),
        fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '~', '!~'),
        fc.constantFrom(...pieces),
      )
      .map((parts) => parts.join(' '));
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\ud800', '1e999', 'NaN', '\\', "'; drop table x; --"),
      fc.double(),
      fc.jsonValue({ noUnicodeString: false }),
      fc.constant(JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`)),
    );
    const hostile = fc
      .record({
        body: fc.record({ title: value, rank: value, tags: value, meta: value }),
        text: fc.string({ unit: 'binary' }),
      })
      .map(({ body, text }) =>
        requestWith({ body, auth: { id: text, email: text, type: 'user' }, query: () => text, header: () => text }),
      );
    const scope = { collection: open.posts, schema: schemaOf(open), audience: 'rule' as const };
    let ran = 0;
    const property = fc.asyncProperty(
      fc.array(comparison, { minLength: 1, maxLength: 3 }),
      hostile,
      async (comparisons, request) => {
        if (await findIds(compose(comparisons.join(' || '), scope, request))) ran += 1;
      },
    );
    await fc.assert(property, { numRuns: 600 });
    assert.ok(ran > 60, `only ${ran} of 600 were accepted`);
  });

  it('plans the longest filter of a client within seconds', async () => {
    const text = Array.from({ length: 80 }, () => 'parent.parent.parent.parent.parent.parent.ok=1').join('&&');
    const scope = { collection: open.posts, schema: schemaOf(open), audience: 'client' as const };
    const started = performance.now();
    assert.ok(await findIds(compose(text, scope, requestWith())));
    assert.ok(performance.now() - started < 10_000);
  });
});

type SortKey = { readonly path: string; readonly isDescending: boolean };

function compareKeys(a: readonly unknown[], b: readonly unknown[], terms: readonly SortKey[]): number {
  for (const [index, { isDescending }] of terms.entries()) {
    const order = compareValues(a[index], b[index]);
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

/** Null sorts above every value. */
function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b);
}
