import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Bus } from '@recordbus/bus';
import { newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import type { Storage } from '@recordbus/storage';
import { eventually } from '@recordbus/testing';
import { findBackup } from './backup-rows.ts';
import { createBackups, maxKept } from './backups.ts';

const maxBytes = async () => 10_000;
const bus = { connected: false } as Bus;
const origin = {
  context: { principal: { type: 'admin', id: newId(), email: 'a@x.org' }, clientAddress: '' },
  userAgent: '',
} as const;

suite('a backup whose store fails', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
  });
  after(() => temporary?.remove());

  /** A store that takes some bytes and then fails. */
  const fullStore = (error: Error, deleted: string[] = []): Storage =>
    ({
      async put(_key, bytes) {
        for await (const _chunk of bytes) throw error;
        throw error;
      },
      find: async () => undefined,
      delete: async ({ segments }) => void deleted.push(segments[1]),
    }) as Partial<Storage> as Storage;

  const failures = [
    [Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'archive store full'],
    [Object.assign(new Error('denied'), { code: 'EACCES' }), 'archive store refused the archive: EACCES'],
    [new Error('connection to 10.0.0.7 lost'), 'it failed; the log has the reason'],
  ] as const;

  for (const [error, says] of failures)
    test(`says: ${says} [operation §9.6]`, async () => {
      const deleted: string[] = [];
      const { database, url } = temporary;
      const place = { databaseUrl: url, archives: fullStore(error, deleted), holdsFiles: false, maxBytes };
      const log = createLogger('records', 'silent');
      const backups = createBackups({ database, bus, log, storage: place.archives, place });
      const { id } = await backups.start(origin);
      await eventually(async () => (await findBackup(database.query, id))?.state === 'failed');
      assert.equal((await findBackup(database.query, id))?.error, says);
      assert.deepEqual(deleted, [id]);
      // The lock is free again.
      await eventually(async () => {
        const next = await backups.start(origin).catch(() => undefined);
        return next !== undefined;
      });
      await backups.stop();
    });

  test('keeps 20 archives, and accepts no more until one is deleted [operation §9.6]', async () => {
    const { database, url } = temporary;
    const place = { databaseUrl: url, archives: fullStore(new Error('not reached')), holdsFiles: false, maxBytes };
    const log = createLogger('records', 'silent');
    const backups = createBackups({ database, bus, log, storage: place.archives, place });
    const kept = Array.from({ length: maxKept }, () => newId());
    for (const id of kept)
      await database.query({
        text: `insert into system.backups (id, file, actor, state) values ($1, 'kept.tar.gz', '{}', 'done')`,
        values: [id],
      });
    await assert.rejects(backups.start(origin), { status: 409, code: 'too_many_backups' });
    const first = await findBackup(database.query, String(kept[0]));
    assert.ok(first);
    await backups.remove(first);
    // The refused start's lock is free.
    assert.equal((await backups.start(origin)).state, 'running');
    await backups.stop();
  });

  test('keeps and writes no more bytes than the limit [operation §9.6]', async () => {
    const { database, url } = temporary;
    const written: number[] = [];
    const archives = {
      async put(_key, bytes) {
        for await (const chunk of bytes) written.push(chunk.length);
        return { sizeBytes: 1 };
      },
      find: async () => undefined,
      delete: async () => {},
    } as Partial<Storage> as Storage;
    let allowed = 0;
    const place = { databaseUrl: url, archives, holdsFiles: false, maxBytes: async (kept: number) => kept + allowed };
    const log = createLogger('records', 'silent');
    const backups = createBackups({ database, bus, log, storage: archives, place });
    await database.query({ text: `delete from system.backups`, values: [] });
    await assert.rejects(backups.start(origin), {
      status: 409,
      code: 'too_many_backups',
      message: /SERVICE_BACKUPS_MAX_BYTES/,
    });
    allowed = 100;
    const { id } = await backups.start(origin);
    await eventually(async () => (await findBackup(database.query, id))?.state === 'failed');
    const says = 'it has more than the 100 bytes that SERVICE_BACKUPS_MAX_BYTES leaves: delete an archive, or raise it';
    assert.equal((await findBackup(database.query, id))?.error, says);
    assert.ok(written.reduce((sum, length) => sum + length, 0) <= allowed);
    await backups.stop();
  });
});
