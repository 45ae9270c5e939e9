import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { RequestContext } from '@recordbus/request/context';
import { inRequest } from '@recordbus/request/request-scope';
import pg from 'pg';
import { createQuickStatements } from '../connections/quick-statements.ts';
import type { ReadLane } from '../connections/read-lane.ts';
import type { Statement } from '../statement.ts';
import { createLargeAnswers } from './large-answers.ts';
import { createShapedReads } from './shaped-reads.ts';

const meter = { watch() {}, waited() {}, refused() {}, timedOut() {} };
const statement: Statement = { text: 'read', values: [] };
const large = [{ body: 'x'.repeat(300_000) }];
const contextOf = (clientAddress: string): RequestContext => ({
  requestId: 'r',
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
  principal: { type: 'guest', rejectedToken: false },
  clientAddress,
});

function canceled(): Error {
  const error = new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error');
  error.code = '57014';
  return error;
}

/** Reads on connections with prepared answers; `freeSlots` is how many slots the client has free in the database. */
function createReads({
  answer = async (): Promise<unknown[]> => [{ id: 1 }],
  quickAnswer = async (): Promise<unknown[]> => [{ id: 'quick' }],
  quickStatements = createQuickStatements(() => 0),
  freeSlots = 4,
  maxBytes = 10_000_000,
  longMs = 1000,
}) {
  const log: string[] = [];
  let nowMs = 0;
  const reads = createShapedReads({
    quick: laneOf(async () => {
      log.push('quick');
      return quickAnswer();
    }),
    quickStatements,
    short: {
      query: async <R>() => {
        log.push('short');
        return (await answer()) as R[];
      },
    },
    longWidth: { now: () => 1, noteShortWork() {} },
    long: {
      transaction: async (work) => {
        log.push('long');
        return work(async <R>({ text }: Statement) => {
          if (text.includes('advisory')) return Array.from({ length: freeSlots }, () => ({})) as R[];
          nowMs += longMs;
          return [{ id: 'long' }] as R[];
        });
      },
    },
    meter,
    nowMs: () => nowMs,
    largeAnswers: createLargeAnswers({ meter, maxBytes, waitMs: 1 }),
  });
  return { reads, log };
}

/** Creates an answer that its client does not read until it is closed. */
function unread() {
  const socket = Object.assign(new EventEmitter(), { destroyed: false });
  const response = Object.assign(new EventEmitter(), { closed: false, req: { socket } });
  return {
    request: <T>(address: string, work: () => Promise<T>) =>
      inRequest(contextOf(address), work, { response: response as unknown as ServerResponse }),
    closeResponse: () => response.emit('close'),
    closeSocket: () => socket.emit('close'),
    listeners: () => response.listenerCount('close') + socket.listenerCount('close'),
  };
}

const laneOf = (read: () => Promise<unknown[]>) => ({ read }) as unknown as ReadLane;

describe('shaped reads', () => {
  test('begin on a short connection, and become long ones when they exceed its time', async () => {
    let isSlow = false;
    const { reads, log } = createReads({
      answer: async () => {
        if (isSlow) throw canceled();
        return [{ id: 1 }];
      },
    });
    assert.deepEqual(await reads.read(statement, 5000), [{ id: 1 }]);
    isSlow = true;
    assert.deepEqual(await reads.read(statement, 5000), [{ id: 'long' }]);
    assert.deepEqual(await reads.read(statement, 5000), [{ id: 'long' }]);
    assert.deepEqual(log, ['short', 'short', 'long', 'long']);
  });

  test('with a quick statement share connections, and start again on a short one if they take too long', async () => {
    const quickStatements = createQuickStatements(() => 0);
    quickStatements.noteRun({ ...statement, name: 'list' }, 1);
    let isSlow = false;
    const { reads, log } = createReads({
      quickStatements,
      quickAnswer: async () => {
        if (isSlow) throw canceled();
        return [{ id: 'quick' }];
      },
    });
    const read = () => reads.read({ ...statement, name: 'list' }, 5000);
    assert.deepEqual(await read(), [{ id: 'quick' }]);
    isSlow = true;
    assert.deepEqual(await read(), [{ id: 1 }]);
    assert.deepEqual(await read(), [{ id: 1 }]);
    assert.deepEqual(log, ['quick', 'quick', 'short', 'short']);
  });
  test('begin on a short connection again when the statement itself was quick', async () => {
    const { reads, log } = createReads({ answer: () => Promise.reject(canceled()), longMs: 20 });
    await reads.read(statement, 5000);
    await reads.read(statement, 5000);
    assert.deepEqual(log, ['short', 'long', 'short', 'long']);
  });

  test('stay long ones when the statement is quick alone, but not on eight connections at once', async () => {
    const { reads, log } = createReads({ answer: () => Promise.reject(canceled()), longMs: 249 });
    await reads.read(statement, 5000);
    await reads.read(statement, 5000);
    assert.deepEqual(log, ['short', 'long', 'long']);
  });

  test("are refused when other replicas have all the client's slots", async () => {
    const { reads } = createReads({ freeSlots: 0 });
    await assert.rejects(
      reads.transaction((query) => query(statement), 5000),
      { status: 429 },
    );
  });

  test("fail with the database's error", async () => {
    const { reads } = createReads({ answer: () => Promise.reject(new Error('no')) });
    for (let left = 5; left > 0; left -= 1) await assert.rejects(reads.read(statement, 5000), /no/);
  });
});

describe('a large answer', () => {
  test("keeps its client's place until it is sent or its connection is closed", async () => {
    const { reads } = createReads({ answer: async () => large });
    const answers = [1, 2, 3, 4].map(unread);
    for (const { request } of answers) await request('10.0.0.1', () => reads.read(statement, 5000));
    const fifth = unread().request('10.0.0.1', () => reads.read(statement, 5000));
    await unread().request('10.0.0.2', () => reads.read(statement, 5000));
    answers[0]?.closeResponse();
    await fifth;
    const sixth = unread().request('10.0.0.1', () => reads.read(statement, 5000));
    answers[1]?.closeSocket();
    await sixth;
    assert.deepEqual(
      answers.map(({ listeners }) => listeners()),
      [0, 0, 2, 2],
    );
  });

  test('from a lane counts too, and is read again when its client has no free place', async () => {
    const { reads, log } = createReads({ answer: async () => large });
    const lane = laneOf(async () => large);
    const answers = [1, 2, 3, 4].map(unread);
    for (const { request } of answers) await request('10.0.0.1', () => reads.readOn(lane, statement, 5000));
    const fifth = unread().request('10.0.0.1', () => reads.readOn(lane, statement, 5000));
    await setImmediate();
    assert.deepEqual(log, []);
    answers[0]?.closeResponse();
    assert.equal((await fifth).length, 1);
    assert.deepEqual(log, ['short']);
  });

  test('is refused without room, unlike a small one', async () => {
    const { reads } = createReads({ answer: async () => large, maxBytes: 500_000 });
    const first = unread();
    await first.request('10.0.0.1', () => reads.read(statement, 5000));
    await assert.rejects(
      unread().request('10.0.0.2', () => reads.read(statement, 5000)),
      { status: 503 },
    );
    const lane = laneOf(async () => [{ id: 1 }]);
    assert.deepEqual(await unread().request('10.0.0.2', () => reads.readOn(lane, statement, 5000)), [{ id: 1 }]);
    first.closeResponse();
    await unread().request('10.0.0.2', () => reads.read(statement, 5000));
  });

  test('within a request keeps its place until the next read', async () => {
    const { reads } = createReads({ answer: async () => large });
    const { request, listeners } = unread();
    await request('10.0.0.1', async () => {
      for (let left = 10; left > 0; left -= 1) await reads.read(statement, 5000);
    });
    assert.equal(listeners(), 2);
  });

  test('for the product itself keeps no place', async () => {
    const { reads } = createReads({ answer: async () => large });
    for (let left = 10; left > 0; left -= 1) await reads.read(statement, 5000);
  });
});
