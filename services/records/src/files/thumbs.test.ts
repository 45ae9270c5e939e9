import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { createMetrics } from '@recordbus/process/metrics';
import { fileKey, openLocalStorage } from '@recordbus/storage';
import { eventually } from '@recordbus/testing';
import sharp from 'sharp';
import { startDecoder } from './previews/decoder-process.ts';
import { createDecoders } from './previews/decoders.ts';
import { readThumbSize } from './thumb-size.ts';
import { createThumbs } from './thumbs.ts';

const log = createLogger('test', 'silent');
const create = { width: 40, height: 20, channels: 3, background: 'red' } as const;

const beginnings: readonly (readonly [type: string, bytes: string])[] = [
  ['image/png', '\x89PNG'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
  ['image/webp', 'RIFF'],
];

/** An image's type by its first bytes. */
const typeOf = (image: Buffer): string =>
  beginnings.find(([, bytes]) => image.subarray(0, bytes.length).equals(Buffer.from(bytes, 'latin1')))?.[0] ??
  'image/avif';

/** Creates a store with previews. */
async function createWorld(t: TestContext, budgetBytes = 2 ** 28) {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-thumbs-'));
  const storage = await openLocalStorage(directory);
  const pids: number[] = [];
  const start = () => {
    const decoder = startDecoder();
    pids.push(decoder.pid ?? 0);
    return decoder;
  };
  const decoders = createDecoders({ log, budgetBytes, start, timeoutMs: 60_000 });
  t.after(async () => {
    await decoders.stop();
    await rm(directory, { recursive: true });
  });
  const kept = { note: async () => {} };
  const thumbs = createThumbs({ storage, kept, decoders, metrics: createMetrics('test'), log });
  let stored = 0;
  return {
    storage,
    decoders,
    thumbs,
    pids,
    async put(image: Buffer) {
      stored += 1;
      const key = fileKey('c', 'r', `a${stored}_0123456789.png`) ?? assert.fail('no key');
      await storage.put(key, Readable.from([image]));
      return { key, sizeBytes: image.length, type: typeOf(image) };
    },
  };
}

test('previews have the requested size, are never larger than their image and are removed with it [files §5]', async (t) => {
  const { storage, thumbs, put } = await createWorld(t);
  const image = await sharp({ create }).png().toBuffer();
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
    const stored = await put(image);
    const made = (await thumbs.find(stored, readThumbSize(size))) ?? assert.fail(size);
    const shown = await sharp(await buffer((await storage.open(made.key)) ?? assert.fail(size))).metadata();
    assert.deepEqual([made.type, shown.width, shown.height], ['image/png', width, height], size);
    await storage.delete(stored.key);
    assert.equal(await storage.find(made.key), undefined);
  }
});

test("every format has previews, turned as its camera says, and from an animation's first image [files §5.3]", async (t) => {
  const { thumbs, put, storage } = await createWorld(t);
  const plain = () => sharp({ create });
  const frames = { create: { ...create, height: 60, pageHeight: 20 } };
  for (const image of [
    await plain().jpeg().withMetadata({ orientation: 6 }).toBuffer(),
    await plain().jpeg({ progressive: true }).withMetadata({ orientation: 6 }).toBuffer(),
    await plain().rotate(90).png().toBuffer(),
    await plain().rotate(90).webp().toBuffer(),
    await plain().rotate(90).avif().toBuffer(),
    await sharp(frames).gif().toBuffer(),
    await sharp(frames).webp().toBuffer(),
  ]) {
    const stored = await put(image);
    const made = (await thumbs.find(stored, readThumbSize('10x0'))) ?? assert.fail(stored.type);
    const shown = await sharp(await buffer((await storage.open(made.key)) ?? assert.fail(stored.type))).metadata();
    assert.equal(shown.width, 10, stored.type);
  }
});

test('an image over the budget is 422, a broken one and one with too many pixels are served as they are [files §5.5]', async (t) => {
  const { thumbs, put } = await createWorld(t, 2 ** 20);
  const of = (width: number, height: number) => sharp({ create: { ...create, width, height } });
  const size = readThumbSize('100x100');
  const large = await put(await of(600, 600).png().toBuffer());
  for (const _again of [1, 2])
    await assert.rejects(thumbs.find(large, size), { status: 422, code: 'picture_too_large' });
  // A JPEG is decoded at an eighth of its size.
  assert.ok(await thumbs.find(await put(await of(600, 600).jpeg().toBuffer()), size));
  const image = await of(500, 500).png().toBuffer();
  assert.equal(await thumbs.find(await put(image.subarray(0, image.length / 2)), size), undefined);
  assert.equal(await thumbs.find(await put(await of(8000, 7000).png().toBuffer()), size), undefined);
  assert.ok(await thumbs.find(await put(image), size));
});

test('a process that is killed fails only its own preview, and the next one works [files §5.5]', async (t) => {
  const { thumbs, put, pids, decoders } = await createWorld(t);
  await decoders.warm();
  const small = await sharp({ create }).png().toBuffer();
  const size = readThumbSize('10x10');
  process.kill(pids[0] ?? 0, 'SIGKILL');
  assert.ok(await thumbs.find(await put(small), size), 'an idle process that died is replaced');

  // An interlaced image takes seconds to decode.
  const slow = await sharp({ create: { ...create, width: 6000, height: 6000 } })
    .png({ progressive: true })
    .toBuffer();
  const failing = thumbs.find(await put(slow), size);
  await eventually(() => decoders.decodedBytes > 0);
  process.kill(pids.at(-1) ?? 0, 'SIGKILL');
  await assert.rejects(failing, { status: 422, code: 'picture_too_large' });
  assert.ok(await thumbs.find(await put(small), size));
  await eventually(() => decoders.decodedBytes === 0);
});
