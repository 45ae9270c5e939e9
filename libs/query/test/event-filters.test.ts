import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { tableOf } from '@recordbus/schema';
import fc from 'fast-check';
import { compileEventFilter, compileExpression, createParameters, QueryError } from '../src/index.ts';
import type { Expression, Operand, Test } from '../src/language/ast.ts';
import { existsIn } from '../src/language/operands.ts';
import { parse } from '../src/language/parser.ts';
import { visitExpression } from '../src/language/visit-expression.ts';
import { evaluate } from './evaluator.ts';
import { expressionArbitrary } from './expression-arbitrary.ts';
import { print } from './print.ts';
import { type QueryFixture, startDatabase } from './query-fixture.ts';
import { startSpace } from './space.ts';
import { describeTrial, trialsOf } from './trial.ts';

/** A filter over the records of events holds for the same records as the expression for stored ones (webhooks §1.7). */
describe("webhooks' filters", { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startDatabase();
  });
  after(() => fixture?.stop());

  for (const seed of [1, 2, 3])
    it(`hold as the evaluator says, schema ${seed}`, async () => {
      const space = await startSpace(fixture, seed);
      let accepted = 0;
      const facts = fc.record({
        root: fc.constantFrom('record' as const, 'previous' as const),
        join: fc.constantFrom('&&' as const, '||' as const),
        event: fc.constantFrom('a.create', 'a.update'),
        isUser: fc.boolean(),
        draw: fc.nat(),
        isChanged: fc.boolean(),
      });
      const trials = trialsOf(space, 'admin', expressionArbitrary);
      const property = fc.asyncProperty(trials, facts, async ({ made, ...trial }, given) => {
        const { scope, situation } = trial;
        const { collection, schema } = scope;
        const plain = parse(print(made));
        if (!isAccepted(() => compileExpression(print(made), scope, { row: 't', parameters: createParameters() })))
          return;
        // Within `exists`, only the record after the write has a name.
        const root = existsIn(plain).length > 0 ? 'record' : given.root;
        const names = collection.fields.filter(({ options }) => !options.encrypted && !options.hidden);
        const field = names[given.draw % Math.max(1, names.length)];
        const fact = field?.type === 'password' || !field ? 'event = "a.update"' : `changed("${field.name}")`;
        const filter = `(${print(underRoot(plain, root))}) ${given.join} (${fact} && not (actor.type = "user"))`;
        const parameters = createParameters();
        const aliases = root === 'record' ? { record: 't', previous: 'other' } : { record: 'other', previous: 't' };
        const condition = compileEventFilter(filter, { collection, schema }, { facts: 'f', ...aliases, parameters });
        accepted += 1;
        const changed = JSON.stringify(given.isChanged && field ? ['else', field.name] : ['else']);
        const rows = await fixture.database.query<{ id: string }>({
          text: `select t.id from ${tableOf(collection)} t left join ${tableOf(collection)} other on false
            cross join (select '${given.event}' as event, '${given.isUser ? 'user' : 'admin'}' as actor_type,
              '${changed}'::jsonb as changed) f
            where ${condition} order by t.id`,
          values: parameters.values(),
        });
        const isFact = (fact.startsWith('changed') ? given.isChanged : given.event === 'a.update') && !given.isUser;
        const expected = (space.records[collection.name] ?? []).filter((record) => {
          const holds = evaluate(plain, { ...situation, record });
          return given.join === '&&' ? holds && isFact : holds || isFact;
        });
        const found = rows.map(({ id }) => id);
        const wanted = expected.map(({ id }) => String(id)).sort();
        assert.deepEqual(found, wanted, `${filter} for ${describeTrial(space, trial)}`);
      });
      await fc.assert(property, { numRuns: 60, seed });
      assert.ok(accepted > 15, `only ${accepted} filters were accepted`);
    });
});

function isAccepted(compile: () => unknown): boolean {
  try {
    compile();
    return true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

/** The expression over an event's record: each path outside `exists` begins with the root. */
function underRoot(expression: Expression, root: string): Expression {
  const each = (items: readonly Expression[]) => items.map((item) => underRoot(item, root));
  return visitExpression<Expression>(expression, {
    all: (items) => ({ kind: 'all', items: each(items) }),
    any: (items) => ({ kind: 'any', items: each(items) }),
    not: (item) => ({ kind: 'not', item: underRoot(item, root) }),
    comparison: (test) => testUnder(test, root),
    in: (test) => testUnder(test, root),
    quantified: ({ test, ...rest }) => ({ ...rest, test: testUnder(test, root) }),
    exists: (exists) => exists,
  });
}

function testUnder(test: Test, root: string): Test {
  const place = <T extends Operand>(operand: T): T => {
    if (operand.kind === 'path') return { ...operand, segments: [root, ...operand.segments] };
    if (operand.kind === 'count' || operand.kind === 'distance') return { ...operand, of: place(operand.of) };
    return operand;
  };
  if (test.kind === 'comparison') return { ...test, left: place(test.left), right: place(test.right) };
  const among = 'kind' in test.among ? place(test.among) : test.among.map(place);
  return { ...test, left: place(test.left), among };
}
