import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createEmptyDatabase, skipWithoutDatabase, type TemporaryDatabase } from '../temporary-database.ts';
import { up } from './0099-canonical-addresses.ts';
import type { MigrationQuery } from './migration-query.ts';

describe('the canonical form of stored addresses', { skip: skipWithoutDatabase }, () => {
  let temporary: TemporaryDatabase;
  let client: pg.Client;
  const query: MigrationQuery = async (text, values = []) => (await client.query(text, [...values])).rows;
  const addresses = async (table: string) =>
    Object.fromEntries(
      (await query<{ id: string; email: string }>(`select id, email from ${table} order by id`)).map(
        ({ id, email }) => [id, email],
      ),
    );
  before(async () => {
    temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
    client = new pg.Client({ connectionString: temporary.url });
    await client.connect();
    for (const statement of [
      'create schema system',
      'create schema records',
      'create table system.collections (name text, type text)',
      `insert into system.collections values ('people', 'auth'), ('posts', 'base')`,
      'create table system.account_changes (account_id text, kind text, email text, data jsonb)',
      `insert into system.account_changes values ('a1', 'email', 'ünï@example.com', '{"newEmail": "other@example.com"}')`,
      ...['system.admins', 'records.people'].flatMap((table) => [
        `create table ${table} (id text primary key, email text)`,
        `create unique index on ${table} (lower(email)) where email <> ''`,
      ]),
      `create function note() returns trigger language plpgsql as $$ begin
        insert into system.account_changes values (new.id, 'email', old.email, jsonb_build_object('newEmail', new.email));
        return null; end $$`,
      'create trigger note after update on records.people for each row execute function note()',
    ])
      await query(statement);
  });
  after(async () => {
    await client.end();
    await temporary.drop();
  });

  test('is written where no other account has it, without a notice [auth §1.3]', async () => {
    const stored = {
      a1: 'ünï@example.com'.normalize('NFD'),
      a2: 'b@xn--mnchen-3ya.de',
      a3: 'İx@example.com',
      a4: 'ix2@example.com',
      a5: 'Plain@Example.COM',
      // Two accounts of one mailbox, before this version.
      b1: 'c@xn--mnchen-3ya.de',
      b2: 'c@münchen.de',
      c1: 'a,ü@x.co',
      c2: 'a@ü@x.co',
      c3: 'ü@localhost',
      d1: '',
    };
    for (const [id, email] of Object.entries(stored)) {
      await query('insert into records.people values ($1, $2)', [id, email]);
      await query('insert into system.admins values ($1, $2)', [id, email]);
    }
    const expected = {
      ...stored,
      a1: 'ünï@example.com'.normalize('NFC'),
      a2: 'b@münchen.de',
      a3: 'I\u0307x@example.com',
    };
    // A second run changes nothing.
    for (const run of ['first', 'second']) {
      await up(query);
      for (const table of ['records.people', 'system.admins'])
        assert.deepEqual(await addresses(table), expected, `${table} ${run}`);
    }
    const noted = await query<{ data: { newEmail: string } }>('select data from system.account_changes');
    assert.deepEqual(
      noted.map(({ data }) => data.newEmail),
      ['other@example.com'],
    );
  });
});
