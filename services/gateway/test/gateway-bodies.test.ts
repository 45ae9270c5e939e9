import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { eventually } from '@recordbus/testing';
import { describeGateway, mebibyte, streamedMebibytes, zeros } from './gateway-fixture.ts';

describeGateway('bodies at the gateway', (fixture) => {
  test('a body whose declared length is too large is refused before it is read', async () => {
    const { url } = fixture();
    const client = httpRequest(`${url}/api/v1/posts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': 10 * mebibyte },
    });
    client.on('error', () => {});
    client.write('{');
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 413);
    client.destroy();
  });

  test('an upload arrives unchanged, with a declared length or chunked', async () => {
    const { url } = fixture();
    const bytes = randomBytes(5 * mebibyte);
    const expected = createHash('sha256').update(bytes).digest('hex');
    const declared = await fetch(`${url}/api/v1/files/upload`, { method: 'POST', body: bytes });
    assert.equal(await declared.text(), expected);
    const chunked = httpRequest(`${url}/api/v1/files/upload`, { method: 'POST' });
    Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)]).pipe(chunked);
    const [response] = (await once(chunked, 'response')) as [IncomingMessage];
    assert.equal(await text(response), expected);
  });

  test('a chunked body that grows too large is refused, and the client receives the refusal', async () => {
    const { url } = fixture();
    const client = httpRequest(`${url}/api/v1/posts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    });
    client.on('error', () => {});
    Readable.from(zeros(8)).pipe(client);
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 413);
    assert.equal(JSON.parse(await text(response)).code, 'payload_too_large');
  });

  test('large bodies are streamed both ways, not buffered', async () => {
    const { url } = fixture();
    const before = process.memoryUsage().rss;
    let highest = 0;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 5);
    const upload = httpRequest(`${url}/api/v1/files/upload`, {
      method: 'POST',
      headers: { 'Content-Length': streamedMebibytes * mebibyte },
    });
    Readable.from(zeros(streamedMebibytes)).pipe(upload);
    const [uploaded] = (await once(upload, 'response')) as [IncomingMessage];
    assert.equal(uploaded.statusCode, 200);
    uploaded.resume();
    const download = httpRequest(`${url}/api/v1/files/download`).end();
    const [downloaded] = (await once(download, 'response')) as [IncomingMessage];
    let received = 0;
    for await (const chunk of downloaded) received += chunk.length;
    clearInterval(watch);
    assert.equal(received, streamedMebibytes * mebibyte);
    assert.ok(
      highest - before < 0.8 * streamedMebibytes * mebibyte,
      `${Math.round((highest - before) / mebibyte)} MiB more`,
    );
  });

  test('the service learns that a client disconnected', async () => {
    const { url, sawDisconnect } = fixture();
    const controller = new AbortController();
    const response = await fetch(`${url}/api/v1/files/slow`, { signal: controller.signal });
    const reader = response.body?.getReader();
    assert.equal(new TextDecoder().decode((await reader?.read())?.value), 'begun');
    controller.abort();
    await eventually(sawDisconnect);
  });

  test('an answer that breaks off does so for the client too', async () => {
    const { get } = fixture();
    await assert.rejects(async () => (await get('/api/v1/files/broken')).text());
    assert.equal((await get('/api/v1/posts')).status, 200);
  });
});
