import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCommandSession, takeCommandLock } from './command-session.ts';
import { createEmptyDatabase, skipWithoutDatabase } from './temporary-database.ts';

test('a refused command names the one that its database is running', {
  skip: skipWithoutDatabase,
}, async (t) => {
  const create = async () => {
    const { url, drop } = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
    t.after(drop);
    return url;
  };
  const open = async (command: string, url: string) => {
    const client = await openCommandSession(command, url);
    t.after(() => client.end());
    return client;
  };
  const [mine, another] = [await create(), await create()];
  const first = await open('backup', mine);
  // If sessions in other databases counted, one answer would name the wrong command.
  assert.equal(await takeCommandLock(await open('snapshot apply', another)), undefined);
  assert.equal(await takeCommandLock(first), undefined);
  assert.match((await takeCommandLock(await open('restore', mine))) ?? '', /^backup, connection \d+$/);
  assert.match((await takeCommandLock(await open('restore', another))) ?? '', /^snapshot apply, connection \d+$/);
});
