import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashPassword } from '@recordbus/crypto';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { openStatementLog, type StatementLog } from './statement-log.ts';
import { testCollection } from './test-collection.ts';

const own = 'id = @request.auth.id';
const password = 'a long and winding password';

describe('a PATCH to an account', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  let statements: StatementLog;

  before(async () => {
    statements = await openStatementLog(process.env.TEST_DATABASE_URL ?? '');
    const fields = [
      { name: 'email', type: 'email', system: true, required: true },
      { name: 'verified', type: 'bool', system: true },
      { name: 'nick' },
    ] as const;
    const rules = { list: '', view: own, create: '', update: own, delete: own };
    records = await startRecords([testCollection('users', fields, { type: 'auth', rules })], { statements });
    await records.database.query({
      text: `insert into records.users (id, created_at, updated_at, email, verified, nick, password_hash)
        values ('u1', 0, 0, 'u@x.org', true, '', $1)`,
      values: [await hashPassword(password)],
    });
  });
  after(async () => {
    await records?.stop();
    await statements?.close();
  });

  const patch = async (body: object) => {
    statements.take('');
    const { status } = await records.send('PATCH', '/api/users/u1', { as: 'user', body });
    // A write that takes long among others runs again alone, with the same text.
    return { status, statements: new Set(statements.take('records."users"').flat()).size };
  };

  it('is one statement unless it changes the identity', async () => {
    assert.deepEqual(await patch({ nick: 'uma' }), { status: 200, statements: 1 });
    assert.deepEqual(await patch({ nick: 'una', email: 'u@x.org' }), { status: 200, statements: 1 });
  });

  it('reads the account first for a new address, and writes nothing without a proof', async () => {
    const without = { email: 'other@x.org' };
    assert.deepEqual(await patch(without), { status: 403, statements: 1 });
    assert.deepEqual(await patch({ ...without, old_password: 'wrong' }), { status: 403, statements: 1 });
    assert.deepEqual(await patch({ ...without, old_password: password }), { status: 200, statements: 2 });
  });

  it('does not overwrite an address that another request has changed in the meantime', async () => {
    // The caller's token still has the earlier address.
    assert.deepEqual(await patch({ email: 'u@x.org' }), { status: 403, statements: 1 });
  });
});
