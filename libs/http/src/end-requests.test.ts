import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
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
