import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { endRequests } from './end-requests.ts';
import { listen } from './server.ts';

/** Starts a server whose answers stay open, with one client that reads. */
async function openAnswer() {
  const answers: ServerResponse[] = [];
  const server = await listen(
    (_request, response) => {
      answers.push(response);
      response.writeHead(200).write('hello, ');
    },
    { host: '127.0.0.1', port: 0 },
  );
  const { body } = await fetch(server.url);
  assert.ok(body);
  return { server, answers, text: new Response(body).text() };
}

test('open connections are drained after the server stops accepting, and then the requests end', async () => {
  const { server, answers, text } = await openAnswer();
  let refusal: unknown;
  await endRequests(server, [
    {},
    {
      async drain() {
        refusal = await fetch(server.url).catch((error: Error) => error.cause);
        for (const answer of answers) answer.end('goodbye');
      },
    },
  ]);
  assert.equal(await text, 'hello, goodbye');
  assert.match(String(refusal), /ECONNREFUSED/);
});

test("a failed drain's error is thrown after the other drains and the last request", async () => {
  const { server, answers, text } = await openAnswer();
  const ended = endRequests(server, [
    { drain: () => Promise.reject(new Error('a defect')) },
    {
      async drain() {
        for (const answer of answers) answer.end('goodbye');
      },
    },
  ]);
  await assert.rejects(ended, /a defect/);
  assert.equal(await text, 'hello, goodbye');
});

test('a server that closes answers requests that it had no time to accept', { timeout: 60_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-queue-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const server = await listen((_request, response) => response.end('done'), { host: '127.0.0.1', port: 0 });
  const [count, sent] = [100, join(directory, 'sent')];
  const program = `const { connect } = require('node:net');
    let sent = 0;
    for (let index = 0; index < ${count}; index += 1) {
      const socket = connect(${server.port}, '127.0.0.1');
      socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n', () => {
        sent += 1;
        if (sent === ${count}) require('node:fs').writeFileSync('${sent}', '');
      });
      socket.on('data', (data) => process.stdout.write(data)).on('error', () => {});
    }`;
  const client = spawn(process.execPath, ['-e', program]);
  // While this thread is busy, only the system accepts the connections.
  const endsAtMs = performance.now() + 30_000;
  while (!existsSync(sent) && performance.now() < endsAtMs);
  const ended = endRequests(server, []);
  assert.equal((await textOf(client.stdout)).match(/done/g)?.length, count);
  await ended;
});
