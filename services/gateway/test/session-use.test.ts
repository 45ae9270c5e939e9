import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createSessionUse } from '../src/app.ts';
import { quiet } from './topologies.ts';

test("sessions' last use is written when the gateway stops", { skip: skipWithoutDatabase }, async () => {
  await using started = new AsyncDisposableStack();
  const temporary = await openTemporaryDatabase();
  started.defer(() => temporary.remove());
  const { database } = temporary;
  await database.query({
    text: `insert into system.sessions (id, account_id, created_at, last_used_at, expires_at)
      values ('s1', 'u1', 0, 0, 1900000000)`,
    values: [],
  });
  const use = createSessionUse({ database, log: quiet });
  use.start();
  use.note('s1');
  await use.stop();
  const [row] = await database.query<{ last_used_at: number }>({
    text: "select last_used_at from system.sessions where id = 's1'",
    values: [],
  });
  assert.ok((row?.last_used_at ?? 0) > 1_700_000_000);
});
