import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { testCollectionRoutes } from './test-collection-routes.ts';

export type Members = Record<string, unknown>;
export interface Schema {
  version: 1;
  collections: Members[];
  webhooks?: Members[];
  settings?: Members;
  migrations?: { name: string; sql: string }[];
}
export interface Plan {
  hash: string;
  changes: Members[];
  drops: string[];
  locks: Members[];
  warnings: string[];
}

export const schemaPath = '/api/v1/admin/schema';
/** A schema whose files are collections alone. */
export const collections = (...files: Members[]): Schema => ({ version: 1, collections: files });

/** Serves the schema routes to a suite's tests; each test leaves an empty schema. */
export function testSchemaRoutes() {
  const { call, rows, create, assertRefused } = testCollectionRoutes();

  async function pull(): Promise<Required<Schema>> {
    const { status, body } = await call('GET', schemaPath);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as Required<Schema>;
  }
  async function plan(schema: Schema, variables: Record<string, string> = {}): Promise<Plan> {
    const { status, body } = await call('POST', `${schemaPath}/plan`, { schema, variables });
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as Plan;
  }
  const refusePlan = (schema: Schema) => call('POST', `${schemaPath}/plan`, { schema });
  const send = (schema: Schema, hash: string, more: Members = {}) =>
    call('POST', `${schemaPath}/apply`, { schema, hash, ...more });
  async function apply(schema: Schema, more: Members = {}) {
    const { hash } = await plan(schema);
    const { status, body } = await send(schema, hash, more);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as { hash: string; changes: Members[] };
  }
  afterEach(async () => {
    await rows('delete from system.schema_migrations');
    const empty: Schema = { version: 1, collections: [], webhooks: [], settings: {} };
    await apply(empty, { allow_drop: (await plan(empty)).drops });
    assert.deepEqual(await pull(), { ...empty, migrations: [] });
  });
  const namesOf = (changes: readonly Members[]) =>
    changes.map(({ action, kind, name, from }) => `${action} ${kind} ${name}${from ? ` from ${from}` : ''}`);
  const fileOf = async (name: string) => {
    const found = (await pull()).collections.find((file) => file.name === name);
    return (found ?? assert.fail(name)) as Members & { fields: Members[] };
  };
  const record = (table: string, members: Members) =>
    rows(
      `insert into records."${table}" (created_at, updated_at, ${Object.keys({ id: '', ...members }).join(', ')})
       values (1, 1, ${Object.keys({ id: '', ...members }).map((_, index) => `$${index + 1}`)})`,
      Object.values({ id: crypto.randomUUID(), ...members }),
    );
  return { call, rows, create, assertRefused, pull, plan, refusePlan, send, apply, namesOf, fileOf, record };
}
