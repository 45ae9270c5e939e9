import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { createLogger } from '@recordbus/shared/logging';
import { fileKey, openLocalStorage } from '@recordbus/storage';
import sharp from 'sharp';
import { readThumbSize } from './thumb-size.ts';
import { createThumbs } from './thumbs.ts';

test('previews have the requested size, are never larger than their image and are removed with it [files §5]', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-thumbs-'));
  t.after(() => rm(directory, { recursive: true }));
  const storage = await openLocalStorage(directory);
  const key = fileKey('c', 'r', 'a_0123456789.png') ?? assert.fail('no key');
  const create = { width: 40, height: 20, channels: 3, background: 'red' } as const;
  const image = await sharp({ create }).png().toBuffer();
  await storage.put(key, Readable.from([image]));
  const thumbs = createThumbs({ storage, kept: { note: async () => {} }, log: createLogger('test', 'silent') });
  const sizes: [string, number, number][] = [
    ['10x10', 10, 10],
    ['10x10t', 10, 10],
    ['10x10f', 10, 5],
    ['0x10', 20, 10],
    ['10x0', 10, 5],
    ['100x10', 40, 10],
    ['100x100f', 40, 20],
    ['4000x0', 40, 20],
  ];
  for (const [size, width, height] of sizes) {
    const stored = { key, sizeBytes: image.length, type: 'image/png' };
    const made = (await thumbs.find(stored, readThumbSize(size))) ?? assert.fail(size);
    const shown = await sharp(await buffer((await storage.open(made.key)) ?? assert.fail(size))).metadata();
    assert.deepEqual([made.type, shown.width, shown.height], ['image/png', width, height], size);
    await storage.delete(key);
    assert.equal(await storage.find(made.key), undefined);
    await storage.put(key, Readable.from([image]));
  }
});
