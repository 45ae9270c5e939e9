import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { describeRoutes, route } from '@recordbus/http';
import { createLogger } from '@recordbus/process/logging';
import { z } from 'zod';
import { pollManifest, routeManifest } from './poll-manifest.ts';

/** A service that answers when the test lets it, with one route at the given path. */
function slowService() {
  const requests: PromiseWithResolvers<{ status: number; body: unknown }>[] = [];
  return {
    requests,
    ask() {
      const answer = Promise.withResolvers<{ status: number; body: unknown }>();
      requests.push(answer);
      return answer.promise;
    },
    answer(index: number, path: string) {
      const declared = { method: 'GET', paths: [path], access: 'public', idempotent: false, bodyLimitBytes: 0 };
      requests[index]?.resolve({ status: 200, body: { data: [{ ...declared, summary: '', answers: {} }] } });
    },
  };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe("a manifest's poll", () => {
  it('polls exactly once more when changes are announced during a poll', async () => {
    const service = slowService();
    const poll = pollManifest({ name: 'records', log: createLogger('test', 'silent'), ask: service.ask });
    const reported: string[][] = [];
    const started = poll.start((routes) => reported.push(routes.flatMap(({ paths }) => paths)));
    for (let notice = 0; notice < 3; notice += 1) poll.refresh();
    assert.equal(service.requests.length, 1);
    service.answer(0, '/before');
    await turns();
    assert.equal(service.requests.length, 2);
    service.answer(1, '/after');
    await started;
    assert.deepEqual(reported, [['/before'], ['/after']]);
    assert.equal(service.requests.length, 2);
    poll.refresh();
    assert.equal(service.requests.length, 3);
    poll.stop();
    service.answer(2, '/after');
    await turns();
    assert.equal(service.requests.length, 3);
  });
});

test('a declared route survives HTTP', () => {
  const declared = route({
    method: 'POST',
    path: '/api/v1/things',
    access: 'public',
    scope: 'any',
    summary: 'Make a thing',
    answers: { 201: z.object({ id: z.string() }), 409: 'there is one' },
    handler: () => ({ status: 201 }),
  });
  for (const described of describeRoutes([declared]))
    assert.deepEqual(routeManifest.parse(JSON.parse(JSON.stringify(described))), JSON.parse(JSON.stringify(described)));
});
