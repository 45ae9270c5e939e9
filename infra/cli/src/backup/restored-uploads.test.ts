import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { loadConfig } from '@recordbus/process/config';
import { fileKey, openLocalStorage, type Storage, storageVariables } from '@recordbus/storage';
import { openRestoredUploads } from './restored-uploads.ts';

const key = (name: string) => fileKey('c1', 'r1', name) ?? assert.fail(`${name} is not a valid name`);
const put = (storage: Storage, name: string, content: string) => storage.put(key(name), Readable.from([content]));

/**
 * Runs `work` on a directory with `old` and `both`, while `both` and `new` are restored. Returns the files afterwards.
 */
async function filesAfter(work: (uploads: Awaited<ReturnType<typeof openRestoredUploads>>) => Promise<void>) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'recordbus-restored-'));
  try {
    const current = await openLocalStorage(join(dataDirectory, 'uploads'));
    await put(current, 'old', 'old');
    await put(current, 'both', 'damaged');
    const uploads = await openRestoredUploads(loadConfig(storageVariables, { SERVICE_DATA_DIR: dataDirectory }));
    await put(uploads.storage, 'both', 'both');
    await put(uploads.storage, 'new', 'new');
    await work(uploads);
    const found: string[] = [];
    for (const name of ['old', 'both', 'new']) {
      const bytes = await current.open(key(name));
      if (bytes) found.push(await text(bytes));
    }
    return { found, isTidy: !existsSync(join(dataDirectory, 'uploads.restoring')) };
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

suite('the files of a restore', () => {
  test('are not visible until they are published', async () => {
    assert.deepEqual(await filesAfter(async () => {}), { found: ['old', 'damaged'], isTidy: false });
  });

  test('exist next to the old ones while the database may name either', async () => {
    const { found } = await filesAfter((uploads) => uploads.publish());
    assert.deepEqual(found, ['old', 'both', 'new']);
  });

  test('are the only ones at the end', async () => {
    const done = await filesAfter(async (uploads) => {
      await uploads.publish();
      await uploads.removeObsolete();
    });
    assert.deepEqual(done, { found: ['both', 'new'], isTidy: true });
  });

  test('are removed again when the restore fails', async () => {
    const undone = await filesAfter(async (uploads) => {
      await uploads.publish();
      await uploads.undo();
    });
    assert.deepEqual(undone, { found: ['old', 'both'], isTidy: true });
  });
});
