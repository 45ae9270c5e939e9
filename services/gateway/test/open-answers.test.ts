import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@recordbus/testing';
import { nextText, type OpenService, openService, openStream, theOnly } from './open-service.ts';
import { type RunningGateway, topologies } from './topologies.ts';

const answerTimeoutMs = 300;

for (const [name, start] of Object.entries(topologies))
  describe(`an answer that stays open, with its service ${name}`, () => {
    let fixture: OpenService;
    let gateway: RunningGateway;
    beforeEach(async () => {
      fixture = openService();
      gateway = await start([fixture.service], answerTimeoutMs);
    });
    afterEach(async () => {
      fixture[Symbol.dispose]();
      await gateway.stop();
    });

    const stream = (path = '/api/v1/live', method = 'GET') => openStream(gateway.url + path, { method });
    /** Waits longer than a service's timeout. */
    const outwait = async () => {
      for (let time = 0; time < 2; time += 1) assert.equal((await fetch(`${gateway.url}/api/v1/stalls`)).status, 504);
    };

    for (const method of ['GET', 'POST'])
      test(`survives silence longer than the answer timeout: ${method}`, async () => {
        const response = await stream('/api/v1/live', method);
        assert.deepEqual([response.statusCode, response.headers['content-type']], [200, 'text/event-stream']);
        await eventually(() => fixture.open.size === 1);
        await outwait();
        theOnly(fixture.open).write('data: 1\n\n');
        assert.equal(await nextText(response), 'data: 1\n\n');
        await outwait();
        theOnly(fixture.open).write('data: 2\n\n');
        assert.equal(await nextText(response), 'data: 2\n\n');
        theOnly(fixture.open).end();
        assert.equal(await text(response), '');
      });

    test('has only its head for HEAD', async () => {
      const response = await stream('/api/v1/live', 'HEAD');
      assert.equal(await text(response), '');
      assert.equal(response.headers['content-type'], 'text/event-stream');
      assert.equal(fixture.open.size, 0);
    });

    test('is 504 when it does not begin', async () => {
      assert.equal((await stream('/api/v1/late')).statusCode, 504);
    });

    test('may be refused like any other request', async () => {
      const response = await stream('/api/v1/fails');
      assert.equal(response.statusCode, 500);
      assert.match(await text(response), /"code":"internal_error"/);
    });

    test('ends at the service if its client disconnects', async () => {
      const response = await stream();
      await eventually(() => fixture.open.size === 1);
      response.destroy();
      await eventually(() => fixture.open.size === 0);
    });

    test('leaves its connection to the next request, even one that was sent before its end', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
      socket.write(request('/api/v1/live') + request('/api/v1/plain', 'Connection: close\r\n'));
      await eventually(() => fixture.open.size === 1);
      theOnly(fixture.open).end('data: last\n\n');
      const answers = await text(socket);
      assert.match(answers, /data: last\n\n[\s\S]*HTTP\/1\.1 200 OK[\s\S]*"clientAddress"/);
    });

    test('adds no listeners to its connection', async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => warnings.push(warning);
      process.on('warning', note);
      let answer = '';
      const socket = connect(gateway.port, '127.0.0.1').on('data', (data) => (answer += String(data)));
      for (let time = 0; time < 20; time += 1) {
        answer = '';
        socket.write('GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\r\n');
        await eventually(() => fixture.open.size === 1);
        theOnly(fixture.open).end('data: x\n\n');
        await eventually(() => answer.endsWith('0\r\n\r\n'));
      }
      socket.destroy();
      process.off('warning', note);
      assert.deepEqual(warnings, []);
    });
  });
