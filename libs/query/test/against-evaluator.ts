import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compileExpression, compileSort, createParameters, QueryError, type RequestValues } from '../src/index.ts';
import { parse } from '../src/parser.ts';
import type { Scope } from '../src/scope.ts';
import { evaluate, type Situation, valueAt } from './evaluator.ts';
import { expressionArbitrary, sortArbitrary } from './expression-arbitrary.ts';
import { print } from './print.ts';
import type { QueryFixture } from './query-fixture.ts';
import { requestArbitrary } from './request-arbitrary.ts';
import {
  commentRules,
  makeCollections,
  organizationRules,
  recordsArbitrary,
  schemaOf,
  viewRules,
  type World,
} from './world.ts';

const rulesArbitrary = fc.record({
  users: fc.constantFrom(...viewRules),
  organizations: fc.constantFrom(...organizationRules),
  comments: fc.constantFrom(...commentRules),
});

type Collections = ReturnType<typeof makeCollections>;

/** How much is compared. A run is the same for the same seed. */
interface Extent {
  readonly numRuns: number;
  readonly seed: number;
}

/** The collections without hidden records. */
export const openCollections = makeCollections({ users: null, organizations: null });

/** Records of all collections, the same for the same seed. */
export const recordsOf = (seed: number): World['records'] => fc.sample(recordsArbitrary, { numRuns: 1, seed })[0] ?? {};

/** The collection of the caller's account. */
export const callerIn = (collections: Collections, { auth }: RequestValues) =>
  auth?.collection === 'users' || auth?.collection === 'staff' ? collections[auth.collection] : undefined;

/** Returns the ids that a statement over `posts` finds; undefined when its text is refused. */
export async function findIds(
  { database }: QueryFixture,
  compose: () => { text: string; values: unknown[] },
): Promise<string[] | undefined> {
  let statement: { text: string; values: unknown[] };
  try {
    statement = compose();
  } catch (error) {
    assert.ok(error instanceof QueryError, error instanceof Error ? error.stack : String(error));
    return undefined;
  }
  const rows = await database.query<{ id: string }>(statement);
  return rows.map(({ id }) => id);
}

/** A statement of the posts for which an expression holds. */
export const compose =
  (fixture: QueryFixture, text: string, scope: Scope, request: RequestValues, isTable = true) =>
  () => {
    const parameters = createParameters();
    const place = { row: 't', stored: 't', parameters, collation: fixture.collation, isTable };
    const condition = compileExpression(text, scope, place);
    return {
      text: `select t.id from records.posts t where ${condition} order by t.id`,
      values: parameters.values(request),
    };
  };

/** Compares what expressions find with what the evaluator says. Fails when too few of them are accepted. */
export async function compareExpressions(
  fixture: QueryFixture,
  audience: Scope['audience'],
  { numRuns, seed }: Extent,
): Promise<void> {
  const records = recordsOf(seed);
  await fixture.fill({ collections: openCollections, records });
  let compared = 0;
  const property = fc.asyncProperty(
    expressionArbitrary(audience === 'rule'),
    requestArbitrary,
    rulesArbitrary,
    fc.boolean(),
    async (expression, request, rules, isTable) => {
      const collections = makeCollections(rules);
      const caller = callerIn(collections, request);
      const scope: Scope = { collection: collections.posts, schema: schemaOf(collections), audience, caller };
      const text = print(expression);
      const ids = await findIds(fixture, compose(fixture, text, scope, request, isTable));
      if (!ids) return;
      compared += 1;
      const parsed = parse(text);
      const situation = { world: { collections, records }, collection: scope.collection, request, audience };
      const expected = (records.posts ?? []).filter((record) => evaluate(parsed, { ...situation, record }));
      const about = `${text} ${JSON.stringify(request)} ${JSON.stringify(rules)}`;
      assert.deepEqual(ids, expected.map(({ id }) => String(id)).sort(), about);
    },
  );
  await fc.assert(property, { numRuns, seed });
  assert.ok(compared > numRuns / 3, `only ${compared} of ${numRuns} expressions were accepted`);
}

/** Compares the order of sorts with the order of the values that the evaluator finds. */
export async function compareSorts(fixture: QueryFixture, { numRuns, seed }: Extent): Promise<void> {
  const records = recordsOf(seed);
  await fixture.fill({ collections: openCollections, records });
  let compared = 0;
  const property = fc.asyncProperty(sortArbitrary, requestArbitrary, rulesArbitrary, async (terms, request, rules) => {
    const collections = makeCollections(rules);
    const caller = callerIn(collections, request);
    const audience = 'client' as const;
    const scope: Scope = { collection: collections.posts, schema: schemaOf(collections), audience, caller };
    const sort = terms.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${path}`).join(',');
    const ids = await findIds(fixture, () => {
      const parameters = createParameters();
      const place = { row: 't', parameters, collation: fixture.collation, isTable: true };
      const { joins, orderBy } = compileSort(sort, scope, place);
      return {
        text: `select t.id from records.posts t ${joins} order by ${orderBy}`,
        values: parameters.values(request),
      };
    });
    if (!ids) return;
    compared += 1;
    const situation = { world: { collections, records }, collection: scope.collection, request, audience };
    assert.deepEqual(ids, orderOf(records.posts ?? [], terms, situation), `${sort} ${JSON.stringify(rules)}`);
  });
  await fc.assert(property, { numRuns, seed });
  assert.ok(compared > numRuns / 3, `only ${compared} of ${numRuns} sorts were accepted`);
}

type SortKey = { readonly path: string; readonly isDescending: boolean };

function orderOf(
  records: readonly Situation['record'][],
  terms: readonly SortKey[],
  situation: Omit<Situation, 'record'>,
): string[] {
  const all = [...terms, { path: 'id', isDescending: terms.at(-1)?.isDescending ?? false }];
  const keyed = records.map((record) => ({
    id: String(record.id),
    keys: all.map(({ path }) => valueAt(path, { ...situation, record })),
  }));
  return keyed.sort((a, b) => compareKeys(a.keys, b.keys, all)).map(({ id }) => id);
}

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
