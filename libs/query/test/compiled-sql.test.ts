import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Database, openDatabase } from '@recordbus/database';
import { createTemporaryDatabase, type TemporaryDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/shared/logging';
import fc from 'fast-check';
import { compileExpression, createParameters, parse, print, QueryError } from '../src/index.ts';
import { evaluate } from './evaluator.ts';
import { expressionArbitrary, requestArbitrary } from './expression-arbitrary.ts';
import {
  describeRows,
  describeTables,
  listRules,
  makeCollections,
  organizationRules,
  recordsArbitrary,
  schemaOf,
} from './world.ts';

const serverUrl = process.env.TEST_DATABASE_URL;

describe('compiled SQL', { skip: serverUrl ? false : 'TEST_DATABASE_URL is not set' }, () => {
  let temporary: TemporaryDatabase;
  let database: Database;

  before(async () => {
    temporary = await createTemporaryDatabase(serverUrl ?? '');
    database = await openDatabase({ url: temporary.url, name: 'query', log: createLogger('query', 'silent') });
    for (const text of describeTables(makeCollections({ users: null, organizations: null })))
      await database.query({ text, values: [] });
  });
  after(async () => {
    await database?.close();
    await temporary?.drop();
  });

  /** Finds the same records as the evaluator, for generated expressions, requests and rules, over generated records. */
  async function compareOnce(writtenBy: 'rule' | 'client' | 'admin'): Promise<void> {
    const [records] = fc.sample(recordsArbitrary, 1);
    assert.ok(records);
    const plain = makeCollections({ users: null, organizations: null });
    await database.query({ text: 'truncate records.posts, records.users, records.organizations', values: [] });
    for (const [name, collection] of Object.entries(plain))
      await database.query(describeRows(collection, records[name] ?? []));

    const rules = fc.record({
      users: fc.constantFrom(...listRules),
      organizations: fc.constantFrom(...organizationRules),
    });
    let compiled = 0;
    const property = fc.asyncProperty(
      expressionArbitrary(writtenBy === 'rule'),
      requestArbitrary,
      rules,
      async (expression, request, listed) => {
        const collections = makeCollections(listed);
        const text = print(expression);
        const parameters = createParameters();
        let condition: string;
        try {
          condition = compileExpression(
            text,
            { collection: collections.posts, schema: schemaOf(collections), writtenBy },
            { row: 't', stored: 't', parameters },
          );
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
          return;
        }
        compiled += 1;
        const rows = await database.query<{ id: string }>({
          text: `select t.id from records.posts t where ${condition} order by t.id`,
          values: parameters.values(request),
        });
        const parsed = parse(text);
        const situation = { world: { collections, records }, collection: collections.posts, request, writtenBy };
        const expected = (records.posts ?? []).filter((record) => evaluate(parsed, { ...situation, record }));
        assert.deepEqual(
          rows.map(({ id }) => id),
          expected.map(({ id }) => String(id)).sort(),
          `${text}\n${condition}\n${JSON.stringify(request)}`,
        );
      },
    );
    await fc.assert(property, { numRuns: 400 });
    assert.ok(compiled > 200, `only ${compiled} of 400 expressions were compiled`);
  }

  it('finds what a rule means', () => compareOnce('rule'));
  it('finds what a filter means to a client', () => compareOnce('client'));
  it('finds what a filter means to an admin', () => compareOnce('admin'));
});
