import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { compressReply } from './compress-reply.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';

const requestOf = (acceptEncoding?: string) =>
  ({ headers: { ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }) } }) as IncomingMessage;
const routeOf = (members: Partial<Route> = {}) => ({ scope: 'records:read', ...members }) as Route;
const body = { data: 'ä'.repeat(600) };
const long: Reply = { status: 200, body };
const both = requestOf('gzip, br');

const isUnchanged = async (reply: Reply, request = both, route = routeOf()): Promise<void> => {
  const answer = await compressReply(request, route, reply);
  assert.equal(answer.headers?.['Content-Encoding'], reply.headers?.['Content-Encoding']);
};

test('a long JSON answer is compressed, in any form', async () => {
  const json = JSON.stringify(body);
  for (const reply of [
    long,
    { status: 200, json },
    { status: 200, text: Buffer.from(json), headers: { 'Content-Type': 'application/json' } },
  ]) {
    const br = await compressReply(both, routeOf(), reply);
    assert.deepEqual(JSON.parse(brotliDecompressSync(br.text ?? '').toString()), body);
    assert.match(br.headers?.['Content-Type'] ?? '', /^application\/json/);
    const zipped = await compressReply(requestOf('gzip'), routeOf(), reply);
    assert.deepEqual(JSON.parse(gunzipSync(zipped.text ?? '').toString()), body);
    assert.deepEqual([zipped.headers?.['Content-Encoding'], zipped.headers?.Vary], ['gzip', 'Origin, Accept-Encoding']);
  }
});

test('an answer that could be compressed names the header in Vary; the others do not', () => {
  const varyOf = (reply: Reply, request = requestOf()) => {
    const answer = compressReply(request, routeOf(), reply);
    assert.ok(!(answer instanceof Promise));
    return answer.headers?.Vary;
  };
  assert.equal(varyOf(long), 'Origin, Accept-Encoding');
  assert.equal(
    varyOf({ ...long, headers: { Vary: 'Origin, Authorization' } }),
    'Origin, Authorization, Accept-Encoding',
  );
  assert.equal(varyOf({ status: 304, headers: { ETag: 'W/"1"' } }), 'Origin, Accept-Encoding');
  assert.equal(varyOf({ status: 200, json: '{"data":1}' }, both), undefined);
  assert.equal(varyOf({ status: 204 }, both), undefined);
});

test('the limit counts bytes', async () => {
  const ofBytes = (bytes: number): Reply => ({ status: 200, json: `"${'ä'.repeat((bytes - 2) / 2)}"` });
  await isUnchanged(ofBytes(1022));
  assert.equal((await compressReply(both, routeOf(), ofBytes(1024))).headers?.['Content-Encoding'], 'br');
});

test('a strong ETag becomes weak', async () => {
  for (const ETag of ['"1"', 'W/"1"'])
    assert.equal((await compressReply(both, routeOf(), { ...long, headers: { ETag } })).headers?.ETag, 'W/"1"');
  const plain = await compressReply(requestOf(), routeOf(), { ...long, headers: { ETag: '"1"' } });
  assert.equal(plain.headers?.ETag, '"1"');
});

test('these stay as they are', async () => {
  await isUnchanged(long, requestOf());
  await isUnchanged(long, requestOf('identity'));
  await isUnchanged({ ...long, headers: { 'Content-Encoding': 'zstd' } });
  await isUnchanged({ ...long, headers: { 'Cache-Control': 'private, no-transform' } });
  await isUnchanged({ ...long, headers: { 'Content-Type': 'text/plain' } });
  await isUnchanged({ ...long, status: 206 });
  for (const scope of ['none', 'admin', 'files', 'settings:read', 'webhooks:write', 'users:impersonate'] as const)
    await isUnchanged(long, both, routeOf({ scope }));
  await isUnchanged(long, both, routeOf({ action: 'auth' }));
  await isUnchanged(long, both, routeOf({ otherAction: 'auth' }));
});

test('answers beyond the bound go as they are, and the bound is freed', async () => {
  const large: Reply = { status: 200, json: JSON.stringify('x'.repeat(40 * 2 ** 20)) };
  const first = compressReply(both, routeOf(), large);
  assert.ok(first instanceof Promise);
  assert.ok(!(compressReply(both, routeOf(), large) instanceof Promise));
  await first;
  assert.ok(compressReply(both, routeOf(), large) instanceof Promise);
});
