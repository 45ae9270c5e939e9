import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@recordbus/shared/logging';
import { pollManifest } from './poll-manifest.ts';

/** A service that answers when it is told to, with one route of the path that it is given. */
function slowService() {
  const asked: PromiseWithResolvers<{ status: number; body: unknown }>[] = [];
  return {
    asked,
    ask() {
      const answer = Promise.withResolvers<{ status: number; body: unknown }>();
      asked.push(answer);
      return answer.promise;
    },
    answer(index: number, path: string) {
      const route = { method: 'GET', paths: [path], access: 'public', idempotent: false, bodyLimitBytes: 0 };
      asked[index]?.resolve({ status: 200, body: { data: [{ ...route, summary: '', answers: {} }] } });
    },
  };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe('the poll of a manifest', () => {
  it('polls once more, and only once, when changes are announced during a poll', async () => {
    const service = slowService();
    const poll = pollManifest({ name: 'records', log: createLogger('test', 'silent'), ask: service.ask });
    const told: string[][] = [];
    const started = poll.start((routes) => told.push(routes.flatMap(({ paths }) => paths)));
    for (let notice = 0; notice < 3; notice += 1) poll.refresh();
    assert.equal(service.asked.length, 1);
    service.answer(0, '/before');
    await turns();
    assert.equal(service.asked.length, 2);
    service.answer(1, '/after');
    await started;
    assert.deepEqual(told, [['/before'], ['/after']]);
    assert.equal(service.asked.length, 2);
    poll.refresh();
    assert.equal(service.asked.length, 3);
    poll.stop();
    service.answer(2, '/after');
    await turns();
    assert.equal(service.asked.length, 3);
  });
});
