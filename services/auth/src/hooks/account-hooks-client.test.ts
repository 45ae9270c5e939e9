import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { nothingHooked } from '@recordbus/accounts';
import {
  type ContextSigner,
  contextHeader,
  createContextSigner,
  type RequestContext,
} from '@recordbus/request/context';
import { createAccountHooksClient } from './account-hooks-client.ts';

const contextSigner: ContextSigner = createContextSigner(Buffer.from('a secret for tests, over 32 characters'));
const context: RequestContext = {
  requestId: 'r1',
  traceparent: '',
  clientAddress: '127.0.0.1',
  principal: { type: 'guest', rejectedToken: false },
};
const user = { id: 'u1', fields: { nick: 'Ann' }, passwordHash: null };

const requests: unknown[] = [];
let answer: readonly [status: number, body: unknown] = [200, { data: { isWritten: true } }];
const server = createServer(async (request: IncomingMessage, response) => {
  const { principal } = contextSigner.verify(request.headers[contextHeader], request);
  requests.push([request.method, request.url, principal.type, await json(request)]);
  response.writeHead(answer[0], { 'Content-Type': 'application/json' }).end(JSON.stringify(answer[1]));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
const hooks = createAccountHooksClient({ url, contextSigner, copy: { current: nothingHooked } });

test("a write is sent with the caller's principal and its result is returned", async () => {
  assert.equal(await hooks.createUser('people', user, context), true);
  answer = [200, { data: { isWritten: false } }];
  assert.equal(await hooks.changeUser('people', { id: 'u1' }, context), undefined);
  answer = [200, { data: { isWritten: true, removed: ['links'] } }];
  assert.deepEqual(await hooks.changeUser('people', { id: 'u1' }, context), ['links']);
  assert.deepEqual(requests, [
    ['POST', '/internal/users/people', 'guest', user],
    ['PATCH', '/internal/users/people', 'guest', { id: 'u1' }],
    ['PATCH', '/internal/users/people', 'guest', { id: 'u1' }],
  ]);
});

test("a hook's refusal is thrown unchanged; any other failure is 503", async () => {
  answer = [451, { error: 'not here', code: 'of_its_own', details: { email: 'is foreign' } }];
  await assert.rejects(hooks.createUser('people', user, context), {
    status: 451,
    code: 'of_its_own',
    message: 'not here',
    details: { email: 'is foreign' },
  });
  for (const odd of [
    [500, 'what?'],
    [200, { data: null }],
  ] as const) {
    answer = odd;
    await assert.rejects(hooks.createUser('people', user, context), { status: 503 });
  }
  const dead = createAccountHooksClient({ url: 'http://127.0.0.1:1', contextSigner, copy: { current: nothingHooked } });
  const attempt = { flow: 'password', collection: 'people' } as const;
  await assert.rejects(dead.beforeSignIn(attempt, context), { status: 503 });
});
