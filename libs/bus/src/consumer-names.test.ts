import assert from 'node:assert/strict';
import { it } from 'node:test';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { findConsumerNames } from './consumer-names.ts';

/** Returns a connection on which the server answers with `answerTo(offset)`. */
const answering = (answerTo: (offset: number) => object): Pick<NatsConnection, 'request'> => ({
  request: async (subject, body) => {
    assert.equal(subject, '$JS.API.CONSUMER.NAMES.EVENTS');
    const answer = answerTo(JSON.parse(String(body)).offset);
    return { json: () => answer } as Msg;
  },
});

it('finds every consumer name, in pages as the server returns them', async () => {
  const names = Array.from({ length: 2500 }, (_, n) => `consumer-${n}`);
  const paged = answering((offset) => ({ total: names.length, offset, consumers: names.slice(offset, offset + 1024) }));
  assert.deepEqual(await findConsumerNames(paged, 'EVENTS'), names);
});

it('finds no name without consumers, and ends when the server returns fewer than it counts', async () => {
  assert.deepEqual(
    await findConsumerNames(
      answering(() => ({ total: 0, consumers: null })),
      'EVENTS',
    ),
    [],
  );
  const short = answering((offset) => ({ total: 3, offset, consumers: offset === 0 ? ['one'] : [] }));
  assert.deepEqual(await findConsumerNames(short, 'EVENTS'), ['one']);
});

it("throws the server's refusal", async () => {
  const refusing = answering(() => ({ error: { code: 404, err_code: 10059, description: 'stream not found' } }));
  await assert.rejects(findConsumerNames(refusing, 'EVENTS'), JetStreamApiError);
});
