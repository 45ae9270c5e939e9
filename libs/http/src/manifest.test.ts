import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { describeRoutes } from './manifest.ts';
import { ok } from './reply.ts';
import { route } from './route.ts';

test('a route is data without its handler, and is described once', () => {
  const declared = route({
    method: 'POST',
    path: '/api/v1/things',
    access: 'public',
    scope: 'any',
    summary: 'Make a thing',
    body: z.object({ name: z.string() }),
    answers: { 200: z.object({ id: z.string() }) },
    handler: () => ok({ id: '1' }),
  });
  const [description] = describeRoutes([declared]);
  assert.deepEqual(Object.keys(description ?? {}).includes('handler'), false);
  assert.deepEqual(description?.body?.required, ['name']);
  assert.equal(describeRoutes([declared])[0], description);
});
