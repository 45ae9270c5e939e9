import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { RequestContext } from './context.ts';
import { afterRequest, currentLogFields, inRequest } from './request-scope.ts';

const contextOf = (requestId: string, impersonatedBy: string | null): RequestContext => ({
  requestId,
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
  principal: {
    type: 'user',
    id: 'u1',
    email: 'user@example.com',
    collection: 'users',
    anonymous: false,
    impersonatedBy,
  },
  clientAddress: '127.0.0.1',
});

const trace_id = 'a'.repeat(32);

test('every log line for a request has its id and the admin who impersonates the user [admins §5.4]', async () => {
  const seen = await Promise.all(
    [contextOf('r1', 'a1'), contextOf('r2', null)].map((context) =>
      inRequest(context, async () => {
        await setImmediate();
        return currentLogFields();
      }),
    ),
  );
  assert.deepEqual(seen, [
    { request_id: 'r1', trace_id, auth_impersonated_by: 'a1' },
    { request_id: 'r2', trace_id, auth_impersonated_by: undefined },
  ]);
  assert.deepEqual(currentLogFields(), {});
});

test('work that outlives a request logs without its fields, unless the request started it', async () => {
  let answered = () => {};
  const answer = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const fieldsAfterAnswer = () => answer.then(currentLogFields);
  let left: Promise<object> | undefined;
  let requested: Promise<object> | undefined;
  await inRequest(contextOf('r1', 'a1'), async () => {
    left = fieldsAfterAnswer();
    requested = afterRequest(fieldsAfterAnswer);
  });
  answered();
  assert.deepEqual(await left, {});
  assert.deepEqual(await requested, { request_id: 'r1', trace_id, auth_impersonated_by: 'a1' });
});
