import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { acceptsGzip, gzipped } from './compression.ts';

it('a client accepts gzip if it names gzip or any coding with a weight above 0', () => {
  const accepted = [
    'gzip',
    'GZip',
    'br, gzip',
    'x-gzip',
    '*',
    'gzip;q=0.001',
    'deflate;q=1 , gzip ; q=0.5',
    '*;q=0, gzip',
  ];
  const refused = [undefined, '', 'br', 'identity', 'gzip;q=0', 'gzip;q=0.000, *', 'gzip;q=x', 'gzipped', '*;q=0'];
  for (const header of accepted) assert.ok(acceptsGzip(header), header);
  for (const header of refused) assert.ok(!acceptsGzip(header), header);
});

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
