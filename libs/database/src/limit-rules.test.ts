import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import pg from 'pg';
import { type Database, openDatabase } from './database.ts';
import { limitRules } from './limit-rules.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from './temporary-database.ts';

const refusal = { status: 422, code: 'too_expensive' };

describe('a statement that checks a rule', { skip: skipWithoutDatabase }, () => {
  let url: string;
  let database: Database;
  let limitMs = 100;
  let end = async () => {};
  before(async () => {
    const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
    const log = createLogger('test', 'silent');
    const opened = await openDatabase({ url: temporary.url, name: 'test', log, maxConnections: 1 });
    url = temporary.url;
    database = limitRules(opened, () => limitMs);
    end = async () => {
      await opened.close();
      await temporary.drop();
    };
    await database.query({ text: 'create table notes (id integer primary key, n integer)', values: [] });
    await database.query({ text: 'insert into notes values (1, 0)', values: [] });
  });
  after(() => end());

  const sleep = (seconds: number, checksRule = true) => ({
    text: 'select pg_sleep($1)',
    checksRule,
    values: [seconds],
  });
  const increase = { text: 'update notes set n = n + 1 where id = 1 returning n', values: [] };
  const numberOf = async () => {
    const [row] = await database.query<{ n: number }>({ text: 'select n from notes', values: [] });
    return row?.n;
  };

  test('ends after its limit, and the connection is free again', async () => {
    for (let round = 0; round < 3; round += 1) {
      await assert.rejects(database.query(sleep(60)), refusal);
      await assert.rejects(database.of('signIn').query(sleep(60)), refusal);
      assert.equal(await numberOf(), 0);
    }
  });

  test('undoes its transaction', async () => {
    const work = database.transaction(async (query) => {
      await query(increase);
      await query(sleep(60));
    });
    await assert.rejects(work, refusal);
    assert.equal(await numberOf(), 0);
  });

  test('may take longer if it checks no rule', async () => {
    await database.query(sleep(0.3, false));
    await database.transaction((query) => query(sleep(0.3, false)));
  });

  test('may wait for a lock for longer', async () => {
    const holder = new pg.Client(url);
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from notes for update');
      const write = database.query<{ n: number }>({ ...increase, checksRule: true });
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
        and clock_timestamp() - query_start > '350ms'`;
      await eventually(async () => (await holder.query(waiting)).rowCount !== 0);
      await holder.query('commit');
      assert.deepEqual(await write, [{ n: 1 }]);
    } finally {
      await holder.end();
    }
  });

  test("never ends its connection's next statement", async () => {
    // The statements end at about their limit, some before it and some after it.
    limitMs = 20;
    for (let round = 0; round < 100; round += 1) {
      await database.query(sleep(0.015 + (round % 10) / 1000)).catch((error) => assert.equal(error.status, 422));
      await database.query(sleep(0.005, false));
    }
  });
});
