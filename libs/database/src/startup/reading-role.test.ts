import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { openDatabase } from '../database.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';

suite('the reading role [encryption §6.2]', { skip: skipWithoutDatabase }, async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const { url, drop } = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  tidying.defer(drop);
  const open = () => openDatabase({ url, name: 'test', log: createLogger('test', 'silent') });
  const name = new URL(url).pathname.slice(1);
  const timeMs = 1000;

  await test('client reads without the role run with the usual rights', async () => {
    await using database = disposable(await open());
    const rows = await database.reads.shaped(
      { text: 'select current_user = session_user as same', values: [] },
      timeMs,
    );
    assert.deepEqual(rows, [{ same: true }]);
  });

  await test('client reads run under the role, which may read only records and history, including later tables', async () => {
    {
      await using setUp = disposable(await open());
      await setUp.query({ text: 'create table records.before (a int)', values: [] });
      await setUp.query({ text: 'create view records.shown as select * from records.before', values: [] });
      await setUp.query({ text: `create role "${name}_reader"`, values: [] });
    }
    tidying.defer(async () => {
      await using last = disposable(await open());
      await last.query({ text: `drop owned by "${name}_reader"; drop role "${name}_reader"`, values: [] });
    });
    // Several replicas at once all find it ready.
    const replicas = await Promise.all([open(), open(), open()]);
    await using database = disposable(replicas[0]);
    for (const other of replicas.slice(1)) await other.close();
    await database.query({ text: 'create table history.later (a int)', values: [] });
    const { get, shaped, page, shapedTransaction } = database.reads;
    for (const read of [get, shaped, page])
      assert.deepEqual(await read({ text: 'select current_user::text as role', values: [] }, timeMs), [
        { role: `${name}_reader` },
      ]);
    for (const text of [
      'select from records.before',
      'select from records.shown',
      'select from history.later',
      'select sum(records_added) from system.outbox where collection_id is null and transaction_id is null',
    ])
      await shaped({ text, values: [] }, timeMs);
    for (const text of [
      'select from system.admins',
      'select body from system.outbox',
      'select value from system.settings',
      'insert into records.before values (1)',
      'select lo_create(0)',
      'create table public.made (a int)',
    ]) {
      const refused = /permission denied|read-only transaction/;
      await assert.rejects(shaped({ text, values: [] }, timeMs), refused, text);
      await assert.rejects(
        shapedTransaction((query) => query({ text, values: [] }), timeMs),
        refused,
        text,
      );
    }
    assert.equal((await database.read<object>({ text: 'select from system.settings', values: [] })).length, 0);
  });
});

const disposable = <T extends { close(): Promise<void> }>(one: T | undefined): T & AsyncDisposable => {
  if (!one) throw new Error('the database was not opened');
  return { ...one, [Symbol.asyncDispose]: () => one.close() };
};
