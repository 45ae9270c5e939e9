import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { tableOf } from '@recordbus/schema';
import fc from 'fast-check';
import { createParameters, fieldAccess, findDeadParts, refusedFieldsSql } from '../src/index.ts';
import { parse } from '../src/language/parser.ts';
import type { Scope } from '../src/resolve/scope.ts';
import { evaluate } from './evaluator.ts';
import { expressionArbitrary } from './expression-arbitrary.ts';
import { print } from './print.ts';
import type { QueryFixture } from './query-fixture.ts';
import { isFieldSeen } from './sight.ts';
import { type SortTerm, sortArbitrary } from './sort-arbitrary.ts';
import { sortedIds } from './sorted-ids.ts';
import { type Space, startSpace } from './space.ts';
import { type Answer, answerOf, composeExcluded, composeFind, composeSort, refusalBy } from './statements.ts';
import { describeTrial, type Trial, trialsOf } from './trial.ts';
import { refusalOf } from './unseen-name.ts';

/**
 * Compares a random schema with the evaluator: `scale` times some expressions and sorts, and the answers' fields. A
 * failure names the schema's seed, which repeats the comparison.
 */
export async function compareSchema(fixture: QueryFixture, seed: number, scale: number): Promise<void> {
  const space = await startSpace(fixture, seed);
  let [accepted, tried] = [0, 0];
  for (const [audience, runs] of [
    ['rule', 7],
    ['client', 12],
    ['admin', 3],
  ] as const) {
    const numRuns = runs * scale;
    tried += numRuns;
    accepted += await compareExpressions(fixture, space, { audience, numRuns });
  }
  for (const audience of ['client', 'admin'] as const) {
    const numRuns = 2 * scale;
    tried += numRuns;
    accepted += await compareSorts(fixture, space, { audience, numRuns });
  }
  await compareFields(fixture, space, 2 * scale);
  assert.ok(accepted > tried / 3, `only ${accepted} of ${tried} texts were accepted`);
}

/** Compares expressions' results with the evaluator. Returns how many were accepted. */
async function compareExpressions(
  fixture: QueryFixture,
  space: Space,
  { audience, numRuns }: { readonly audience: Scope['audience']; readonly numRuns: number },
): Promise<number> {
  let accepted = 0;
  const trials = trialsOf(space, audience, expressionArbitrary);
  const property = fc.asyncProperty(trials, fc.boolean(), async ({ made, ...trial }, hasLinks) => {
    const { scope, situation } = trial;
    const text = print(made);
    const about = () => `${text} for ${describeTrial(space, trial)}`;
    const compose = composeFind(fixture, text, situation.request, hasLinks);
    const parsed = parse(text);
    const answer = await answerOf(fixture, compose(scope));
    compareRefusal(answer, refusalOf(parsed, placeOf(trial)), {
      audience,
      byAdmin: () => refusalBy(compose(asAdmin(scope))),
      about,
    });
    if (!answer.ids) return;
    accepted += 1;
    const found = recordsOf(space, scope).filter((record) => evaluate(parsed, { ...situation, record }));
    compare(answer.ids, found.map(({ id }) => id).sort(), about);
    const accounts = Object.values(space.collections).filter(({ type }) => type === 'auth');
    const isDead = audience === 'rule' && findDeadParts(text, { ...scope, accounts }).some(({ isWhole }) => isWhole);
    if (isDead) compare(found, [], () => `never holds: ${about()}`);
    const excluded = composeExcluded(fixture, text, situation.request, scope);
    if (!excluded) return;
    const others = recordsOf(space, scope).filter((record) => !found.includes(record));
    const rest = await answerOf(fixture, () => excluded);
    compare(rest.ids, others.map(({ id }) => id).sort(), () => `excluded by ${about()}`);
  });
  await fc.assert(property, { numRuns, seed: space.seed });
  return accepted;
}

/** Compares sorted records with the values that the evaluator finds. Returns how many were accepted. */
async function compareSorts(
  fixture: QueryFixture,
  space: Space,
  { audience, numRuns }: { readonly audience: Scope['audience']; readonly numRuns: number },
): Promise<number> {
  let accepted = 0;
  const trials = trialsOf(space, audience, (language, name) => sortArbitrary(language.words(name)));
  const property = fc.asyncProperty(trials, async ({ made: terms, ...trial }) => {
    const { scope, situation } = trial;
    const sort = terms.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${path}`).join(',');
    const about = () => `${sort} for ${describeTrial(space, trial)}`;
    const compose = composeSort(fixture, sort, situation.request);
    const answer = await answerOf(fixture, compose(scope));
    compareRefusal(answer, refusalOfTerms(terms, trial), {
      audience,
      byAdmin: () => refusalBy(compose(asAdmin(scope))),
      about,
    });
    if (!answer.ids) return;
    accepted += 1;
    compare(answer.ids, sortedIds(recordsOf(space, scope), terms, situation), about);
  });
  await fc.assert(property, { numRuns, seed: space.seed });
  return accepted;
}

/** Compares the fields that answers leave out with those that the evaluator does not see. */
async function compareFields({ database, collation }: QueryFixture, space: Space, numRuns: number): Promise<void> {
  const trials = trialsOf(space, 'client', () => fc.constant(undefined));
  const property = fc.asyncProperty(trials, async (trial) => {
    const { scope, situation, sight } = trial;
    const { collection, schema } = scope;
    const { auth } = situation.request;
    const about = () => describeTrial(space, trial);
    const principal = auth
      ? {
          email: '',
          ...auth,
          type: 'user' as const,
          collection: auth.collection ?? '',
          anonymous: false,
          impersonatedBy: null,
        }
      : { type: 'guest' as const, rejectedToken: false };
    const access = fieldAccess('view', collection, principal, schema);
    const parameters = createParameters();
    const place = { row: 't', parameters, collation, isTable: collection.type !== 'view' };
    const refused = refusedFieldsSql({ collection, schema, principal, access }, place);
    const rows = await database.query<{ id: string; refused: string[] }>({
      text: `select t.id, ${refused} as refused from ${tableOf(collection)} t order by t.id`,
      values: parameters.values(situation.request),
    });
    const closed = collection.fields.filter((field) => !sight.seesField(collection, field));
    compare([...access.closed].sort(), closed.map(({ name }) => name).sort(), about);
    const hidden = recordsOf(space, scope).map((record) => ({
      id: String(record.id),
      refused: collection.fields
        .filter((field) => !closed.includes(field) && !isFieldSeen(field, { ...situation, record }))
        .map(({ name }) => name),
    }));
    compare(rows, hidden, about);
  });
  await fc.assert(property, { numRuns, seed: space.seed });
}

/** The text about a failure is long. */
function compare(actual: unknown, expected: unknown, about: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) assert.deepEqual(actual, expected, about());
}

const recordsOf = (space: Space, { collection }: Scope) => space.records[collection.name] ?? [];
const asAdmin = ({ collection, schema }: Scope): Scope => ({ collection, schema, audience: 'admin' });
const placeOf = ({ situation, sight }: Trial) => ({
  collection: situation.collection,
  collections: situation.world.collections,
  sight,
});

/** The refusal for the first term that names what the caller does not see. */
function refusalOfTerms(terms: readonly SortTerm[], trial: Trial): string | undefined {
  const refusals = terms.map(({ path }) => refusalOf(parse(`${path} = 1`), placeOf(trial)));
  return refusals.find((refusal) => refusal !== undefined);
}

/** Fails unless a client is refused exactly the first name that it does not see. */
function compareRefusal(
  { refusal }: Answer,
  expected: string | undefined,
  {
    audience,
    byAdmin,
    about,
  }: { readonly audience: Scope['audience']; readonly byAdmin: () => string | undefined; readonly about: () => string },
): void {
  // Only the name counts, not the advice behind it.
  if (audience !== 'client' || refusal?.split(';', 1)[0] === expected) return;
  assert.ok(refusal !== undefined && byAdmin() !== undefined, `${refusal} instead of ${expected}: ${about()}`);
}
