import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { Principal } from '@recordbus/request/context';
import { recordAudit } from './record-audit.ts';

interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly impersonated_by: string | null;
  readonly target_type: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: object;
}

const user: Principal = {
  type: 'user',
  id: 'u1',
  email: 'user@example.com',
  collection: 'users',
  anonymous: false,
  impersonatedBy: 'a1',
};

suite('the audit log', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(async () => {
    await temporary.remove();
  });

  const rowsOf = (action: string) =>
    database.query<AuditRow>({ text: 'select * from system.audit where action = $1', values: [action] });

  test("the product's own action has no actor", async () => {
    await recordAudit(database.query, {
      action: 'webhooks.disable',
      context: 'system',
      target: { type: 'webhook', id: 'w1' },
    });
    const [row] = await rowsOf('webhooks.disable');
    assert.deepEqual([row?.actor_type, row?.actor_id, row?.ip], ['system', null, null]);
  });

  test('a row has action, actor, target and address [admins §6.2]', async () => {
    const before = Math.floor(Date.now() / 1000);
    await recordAudit(database.query, {
      action: 'files.download',
      context: { principal: user, clientAddress: '192.0.2.1' },
      userAgent: 'curl/8',
      target: { type: 'file', id: 'docs/r1/a_0123456789.txt' },
      details: { field: 'attachment' },
    });
    const [row, ...others] = await rowsOf('files.download');
    assert.deepEqual(others, []);
    const { id, at, ...rest } = row ?? assert.fail('no row was written');
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(at - before) <= 5, `${at} is not the time of the write`);
    assert.deepEqual(rest, {
      action: 'files.download',
      actor_type: 'user',
      actor_id: 'u1',
      impersonated_by: 'a1',
      target_type: 'file',
      target_id: 'docs/r1/a_0123456789.txt',
      ip: '192.0.2.1',
      user_agent: 'curl/8',
      details: { field: 'attachment' },
    });
  });

  test('a guest has no id, and a row needs neither target nor details', async () => {
    const principal: Principal = { type: 'guest', rejectedToken: false };
    await recordAudit(database.query, { action: 'test.guest', context: { principal, clientAddress: '::1' } });
    const [row] = await rowsOf('test.guest');
    assert.equal(row?.actor_type, 'guest');
    assert.deepEqual(
      [row?.actor_id, row?.impersonated_by, row?.target_type, row?.user_agent],
      [null, null, null, null],
    );
    assert.deepEqual(row?.details, {});
  });

  test('a user agent is cut to 512 characters', async () => {
    const principal: Principal = { type: 'admin', id: 'a1', email: 'root@example.com' };
    const userAgent = 'x'.repeat(5000);
    await recordAudit(database.query, { action: 'test.long', context: { principal, clientAddress: '::1' }, userAgent });
    const [row] = await rowsOf('test.long');
    assert.equal(row?.user_agent?.length, 512);
  });

  test('a row is rolled back with its transaction', async () => {
    const principal: Principal = { type: 'admin', id: 'a1', email: 'root@example.com' };
    await assert.rejects(
      database.transaction(async (query) => {
        await recordAudit(query, { action: 'test.undone', context: { principal, clientAddress: '::1' } });
        throw new Error('undone');
      }),
      /undone/,
    );
    assert.deepEqual(await rowsOf('test.undone'), []);
  });
});
