import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test } from 'node:test';
import { rawJson, route } from '@recordbus/http';
import { eventually } from '@recordbus/testing';
import { pino } from 'pino';
import { z } from 'zod';
import { declare, testService } from './test-service.ts';
import { type RunningGateway, topologies } from './topologies.ts';

const answerTimeoutMs = 300;
const mebibyte = 1024 * 1024;
const longBytes = 16 * mebibyte;
const tooSlow = { error: 'the records service took too long', code: 'upstream_timeout' };

for (const [name, start] of Object.entries(topologies))
  describe(`a service that takes too long, ${name}`, () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    /** Handlers wait until the test resolves it. */
    let gate: PromiseWithResolvers<void>;
    let handled = 0;
    let cut = 0;

    const late = (path: string, work: () => ReturnType<typeof rawJson>) =>
      route({
        method: 'GET',
        path: `/api/v1/late/${path}`,
        access: 'public',
        scope: 'any',
        summary: path,
        answers: { 200: z.unknown() },
        async handler() {
          await gate.promise;
          handled += 1;
          return work();
        },
      });
    const routes = [
      declare('GET', '/api/v1/:collection'),
      declare('GET', '/api/v1/stalls'),
      declare('GET', '/api/v1/long'),
      declare('POST', '/api/v1/:collection'),
      declare('GET', '/api/v1/late/raw'),
      late('answer', () => rawJson(200, '{"late":true}')),
      late('defect', () => {
        throw new Error('late');
      }),
      late('stream', () => ({
        status: 200,
        openStream: async () => Readable.from(['late']).once('close', () => (cut += 1)),
      })),
      late('silent-stream', () => ({
        status: 200,
        openStream: async () => new Readable({ read() {} }).once('close', () => (cut += 1)),
      })),
    ];
    const records = testService('records', log, routes, {
      '/api/v1/stalls': async (_, response) => {
        response.once('close', () => (cut += 1));
        response.write('begun');
        await gate.promise;
      },
      '/api/v1/long': (_, response) => {
        Readable.from(zeros()).pipe(response);
      },
      '/api/v1/late/raw': async (_, response) => {
        await gate.promise;
        handled += 1;
        response.write('late');
        response.end('later');
      },
    });

    let gateway: RunningGateway;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    before(async () => {
      gateway = await start([records], answerTimeoutMs);
    });
    after(async () => {
      gate.resolve();
      agent.destroy();
      await gateway.stop();
    });
    beforeEach(() => {
      gate = Promise.withResolvers();
      handled = cut = 0;
      lines.length = 0;
    });

    const send = (path: string, options: RequestOptions = {}) => httpRequest(gateway.url + path, { agent, ...options });
    const get = async (path: string): Promise<{ response: IncomingMessage; body: string }> => {
      const [response] = (await once(send(path).end(), 'response')) as [IncomingMessage];
      return { response, body: await text(response) };
    };
    /** Waits longer than a service's timeout. */
    const outwait = async () => {
      for (let time = 0; time < 2; time += 1)
        assert.equal((await fetch(`${gateway.url}/api/v1/late/answer`)).status, 504);
    };

    for (const path of ['answer', 'stream', 'raw'])
      test(`is 504, and its late answer is discarded: ${path}`, async () => {
        const { response, body } = await get(`/api/v1/late/${path}`);
        assert.deepEqual([response.statusCode, JSON.parse(body)], [504, tooSlow]);
        assert.equal(response.headers['retry-after'], undefined);
        assert.equal(response.headers['x-frame-options'], 'DENY');
        const { socket } = response;
        gate.resolve();
        await eventually(() => handled === 1);
        for (let next = 0; next < 3; next += 1) {
          const { response: following, body: its } = await get('/api/v1/posts');
          assert.equal(following.statusCode, 200);
          assert.match(its, /"clientAddress"/);
          assert.equal(following.socket, socket);
        }
        assert.deepEqual(lines, []);
      });

    test('is 504, and its late defect is logged once', async () => {
      assert.equal((await get('/api/v1/late/defect')).response.statusCode, 504);
      gate.resolve();
      await eventually(() => lines.length > 0);
      assert.equal((await get('/api/v1/posts')).response.statusCode, 200);
      assert.deepEqual(
        lines.map(({ msg }) => msg),
        ['request failed'],
      );
    });

    test('is 504 when its stream stays empty, and the stream is closed', async () => {
      gate.resolve();
      assert.equal((await get('/api/v1/late/silent-stream')).response.statusCode, 504);
      await eventually(() => cut === 1);
    });

    test('is cut off after its answer has begun, and notices', async () => {
      const [response] = (await once(send('/api/v1/stalls').end(), 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 200);
      await assert.rejects(text(response));
      await eventually(() => cut === 1);
    });

    test('is not blamed for a client that sends slowly', async () => {
      const upload = send('/api/v1/posts', { method: 'POST', headers: { 'Content-Type': 'application/json' } });
      upload.write('{"a":');
      await outwait();
      upload.end('1}');
      const [response] = (await once(upload, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.resume();
    });

    test('is not blamed for a client that reads slowly', async () => {
      const [response] = (await once(send('/api/v1/long').end(), 'response')) as [IncomingMessage];
      await outwait();
      let bytes = 0;
      for await (const chunk of response) bytes += chunk.length;
      assert.equal(bytes, longBytes);
    });
  });

function* zeros(): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < longBytes; sent += chunk.length) yield chunk;
}
