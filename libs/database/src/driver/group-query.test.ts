import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { GroupError, sendGroup } from './group-query.ts';
import { applySettings } from './preludes.ts';
import { sendStatement } from './send-statement.ts';

const options = { settings: undefined, silenceMs: 5000 };
const put = (name: string, n: unknown) => ({
  name,
  text: `insert into notes values ($1) returning n /* ${name} */`,
  values: [n],
});

describe('a statement group', { skip: skipWithoutDatabase }, () => {
  let client: pg.Client;
  let url = '';
  let end = async () => {};
  before(async () => {
    const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
    url = temporary.url;
    client = new pg.Client(url);
    await client.connect();
    await client.query('create table notes (n integer unique deferrable initially deferred check (n <> 666))');
    end = async () => {
      await client.end();
      await temporary.drop();
    };
  });
  after(() => end());
  const refusedAt = (place: number, code: string) => (error: unknown) =>
    error instanceof GroupError && error.place === place && (error.cause as pg.DatabaseError).code === code;

  test("returns each statement's rows", async () => {
    const [first, none, second] = await sendGroup(
      client,
      [put('a', 1), { text: 'delete from notes where n = 100', values: [] }, put('a', 2)],
      options,
    );
    assert.deepEqual([first, none, second], [[{ n: 1 }], [], [{ n: 2 }]]);
  });

  test('writes nothing if one is refused, and names its index', async () => {
    await assert.rejects(sendGroup(client, [put('a', 3), put('b', 666), put('c', 4)], options), refusedAt(1, '23514'));
    const { rows } = await client.query('select n from notes order by n');
    assert.deepEqual(rows, [{ n: 1 }, { n: 2 }]);
  });

  test('prepares statements again that the server skipped after a refused one', async () => {
    await assert.rejects(sendGroup(client, [put('d', 666), put('e', 5), put('f', 6)], options), refusedAt(0, '23514'));
    assert.deepEqual(await sendGroup(client, [put('e', 5), put('f', 6)], options), [[{ n: 5 }], [{ n: 6 }]]);
    assert.deepEqual(await sendStatement(client, put('d', 7)), [{ n: 7 }]);
  });

  test('fails as a whole when the commit is refused', async () => {
    await assert.rejects(sendGroup(client, [put('a', 8), put('a', 8)], options), refusedAt(2, '23505'));
  });

  test('closes the connection when a value cannot be sent, and writes nothing', async () => {
    const unsent = {
      toPostgres() {
        throw new Error('no text');
      },
    };
    const other = new pg.Client(url);
    other.on('error', () => {});
    await other.connect();
    const ended = new Promise<void>((resolve) => other.once('end', resolve));
    await assert.rejects(sendGroup(other, [put('a', 9), put('a', unsent)], options), { message: 'no text' });
    await ended;
    const { rows } = await client.query('select from notes where n = 9');
    assert.equal(rows.length, 0);
  });

  test('has its own settings', async () => {
    const settings = JSON.stringify({ lock_timeout: '123ms' });
    await sendStatement(client, applySettings(settings));
    const shown = { text: "select current_setting('lock_timeout') as value", values: [] };
    const [before] = await sendGroup(client, [shown, put('a', 11)], { ...options, settings });
    const [afterwards] = await sendGroup(client, [shown], options);
    assert.deepEqual([before, afterwards], [[{ value: '123ms' }], [{ value: '0' }]]);
  });
});
