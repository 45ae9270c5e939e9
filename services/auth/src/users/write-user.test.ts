import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type AccountHooks, noAccountHooks, nothingHooked } from '@recordbus/accounts';
import { createValueCipher } from '@recordbus/crypto';
import { type Database, newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { notFound } from '@recordbus/errors';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { accountColumns, type Collection, createFieldEncryption, tableOf } from '@recordbus/schema';
import { testCollection } from '@recordbus/schema/testing';
import type { AuthUnit } from '../auth-unit.ts';
import { writeNewUser, writeUserChange } from './write-user.ts';

const people = testCollection(
  'people',
  [
    { name: 'email', type: 'email', required: true, system: true },
    { name: 'verified', type: 'bool', system: true },
  ],
  { id: 'c1', type: 'auth' },
);
const context: RequestContext = {
  requestId: 'r1',
  traceparent: '',
  clientAddress: '127.0.0.1',
  principal: { type: 'guest', rejectedToken: false },
};

describe('writing users', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  /** The statements on the database, grouped by transaction. */
  let executed: string[][];
  let notices: string[];
  before(async () => {
    temporary = await openTemporaryDatabase();
    await temporary.database.query({
      text: `insert into system.collections (id, name, type, fields, created_at, updated_at)
        values ($1, $2, 'auth', '[]', 0, 0)`,
      values: [people.id, people.name],
    });
    const columns = accountColumns.map(({ name, definition }) => `${name} ${definition}`);
    await temporary.database.query({
      text: `create table ${tableOf(people)} (id text primary key, created_at bigint not null, updated_at bigint not null,
        _revision integer not null default 0,
        email text not null unique, verified boolean not null, ${columns.join(', ')})`,
      values: [],
    });
    const record = (statements: string[], query: Query): Query => {
      return (statement) => {
        statements.push(statement.text.trim().split(/\s+/, 3).join(' '));
        return query(statement);
      };
    };
    const { query, read, transaction } = temporary.database;
    const alone =
      (inner: Query): Query =>
      (statement) => {
        const statements: string[] = [];
        executed.push(statements);
        return record(statements, inner)(statement);
      };
    database = {
      ...temporary.database,
      query: alone(query),
      read: alone(read),
      transaction: (work) =>
        transaction((inner) => {
          const statements: string[] = [];
          executed.push(statements);
          return work(record(statements, inner));
        }),
    };
  });
  beforeEach(() => {
    executed = [];
    notices = [];
  });
  after(() => temporary.remove());

  const partsWith = (accountHooks: AccountHooks) => ({
    database,
    accountHooks,
    bus: { notify: (topic: string) => void notices.push(topic) },
    schema: { findCollection: () => undefined },
    encryption: createFieldEncryption({ cipher: createValueCipher(undefined), log: createLogger('auth', 'silent') }),
    collections: {
      get: async () => people,
      serve: <T>(_name: string, work: (collection: Collection) => Promise<T>) => work(people),
    },
  });
  const parts = () => partsWith(noAccountHooks);
  const newUser = (email: string) => ({ id: newId(), fields: { email }, passwordHash: 'hash' });
  const finish = async ({ query, due }: AuthUnit, { email }: { readonly email: string }) => {
    await query({ text: 'select 1', values: [] });
    due.add('sendMails');
    return email;
  };

  test('without hooks a new user is one statement, and finish runs in its transaction', async () => {
    const made = await writeNewUser(parts(), people, { user: newUser('ann@example.com'), context, finish });
    assert.equal(made, 'ann@example.com');
    assert.deepEqual(executed, [['with new as', 'select 1']]);
    assert.deepEqual(notices, ['outbox', 'accounts', 'mail']);
  });

  test('without hooks a change is one transaction with its finish', async () => {
    const user = newUser('bob@example.com');
    await writeNewUser(parts(), people, { user, context, finish });
    executed = [];
    const change = { id: user.id, fields: { email: 'bob@example.org' }, condition: { email: 'Bob@example.com' } };
    const refusal = () => notFound('user');
    assert.equal(await writeUserChange(parts(), people, { change, context, refusal, finish }), 'bob@example.org');
    assert.deepEqual(executed, [['select t.verified, t.verified', 'with old as', 'select 1']]);
    assert.deepEqual(notices.splice(0), ['outbox', 'accounts', 'mail', 'outbox', 'accounts', 'mail']);
    await assert.rejects(writeUserChange(parts(), people, { change, context, refusal, finish }), { status: 404 });
    assert.deepEqual(notices, [], 'nothing was written');
  });

  test('the service that runs the hooks makes only the writes with hooks', async () => {
    const calls: unknown[] = [];
    const hooks: AccountHooks = {
      ...noAccountHooks,
      hooked: { ...nothingHooked, create: ['*'], update: ['people'] },
      createUser: async (...call) => calls.push(call) > 0,
      changeUser: async (...call) => {
        calls.push(call);
        return undefined;
      },
    };
    const user = newUser('cid@example.com');
    // The hooks report a written user that does not exist, as after a parallel delete.
    await assert.rejects(writeNewUser(partsWith(hooks), people, { user, context, finish }), { status: 404 });
    const refusal = () => notFound('token');
    const change = { id: user.id, fields: { verified: true } };
    await assert.rejects(
      writeUserChange(partsWith(hooks), people, { change, context, refusal, finish }),
      /token not found/,
    );
    assert.deepEqual(calls, [
      ['people', user, context],
      ['people', change, context],
    ]);
    assert.deepEqual(executed, [['select t.id, t.email,']]);
    const password = { id: user.id, passwordHash: 'another' };
    await assert.rejects(writeUserChange(partsWith(hooks), people, { change: password, context, refusal, finish }));
    assert.equal(calls.length, 2);
  });
});
