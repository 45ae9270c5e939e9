import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { applySettings } from './preludes.ts';
import { sendStatement } from './send-statement.ts';

const lock = 7;
const insert = { name: 'insert', text: 'insert into notes values ($1) returning n', values: [1] };

describe('a statement whose commit waits', { skip: skipWithoutDatabase }, () => {
  let client: pg.Client;
  let holder: pg.Client;
  let end = async () => {};
  before(async () => {
    const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
    client = new pg.Client(temporary.url);
    holder = new pg.Client(temporary.url);
    await Promise.all([client.connect(), holder.connect()]);
    await client.query(`create table notes (n integer);
      create function waits() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(${lock}); return null; end $$;
      create constraint trigger waits after insert on notes deferrable initially deferred for each row execute function waits()`);
    end = async () => {
      await Promise.all([client.end(), holder.end()]);
      await temporary.drop();
    };
  });
  after(() => end());

  for (const settings of [undefined, JSON.stringify({ work_mem: '5MB' })])
    test(`reports before the commit that it has run, ${settings ? 'with' : 'without'} its own settings`, async () => {
      if (settings) await client.query(applySettings(settings));
      await holder.query(`select pg_advisory_lock(${lock})`);
      const executed = Promise.withResolvers<void>();
      let hasEnded = false;
      const sent = sendStatement(client, insert, { settings, onExecuted: executed.resolve }).finally(() => {
        hasEnded = true;
      });
      await executed.promise;
      assert.equal(hasEnded, false);
      await holder.query(`select pg_advisory_unlock(${lock})`);
      assert.deepEqual(await sent, [{ n: 1 }]);
    });
});
