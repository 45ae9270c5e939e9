import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { gzipped } from './compression.ts';

it('a compressed stream decompresses to the same bytes', async () => {
  const bytes = Buffer.concat(await gzipped(Readable.from(['one', 'two'], { objectMode: false })).toArray());
  assert.equal(gunzipSync(bytes).toString(), 'onetwo');
});

it('a stream and its compressed stream end together', async () => {
  const failing = new Readable({ read: () => {} });
  const compressed = gzipped(failing);
  failing.destroy(new Error('lost'));
  const [error] = await once(compressed, 'error');
  assert.match(String(error), /lost/);

  const unread = new Readable({ read: () => {} });
  const left = gzipped(unread);
  left.destroy();
  await once(unread, 'error');
  assert.ok(unread.destroyed);
});
