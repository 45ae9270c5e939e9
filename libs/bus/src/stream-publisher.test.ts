import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { JetStreamApiError, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect, errors, headers, type NatsConnection } from '@nats-io/transport-node';
import { readServerAddresses } from './server-addresses.ts';
import { createStreamPublisher, type StreamPublisher } from './stream-publisher.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';

const withId = (id: string) => {
  const made = headers();
  made.append('Nats-Msg-Id', id);
  return made;
};

describe("a stream's publisher", { skip, concurrency: true }, () => {
  const prefix = `publisher-${process.pid}`;
  const stream = `PUBLISHER_${process.pid}`;
  let connection: NatsConnection;
  let publisher: StreamPublisher;

  async function open(): Promise<{ connection: NatsConnection; publisher: StreamPublisher }> {
    const made = await connect(readServerAddresses(TEST_NATS_URL));
    const ofConnection = createStreamPublisher(() => made);
    ofConnection.subscribeOn(made);
    return { connection: made, publisher: ofConnection };
  }

  before(async () => {
    ({ connection, publisher } = await open());
    const { streams } = await jetstreamManager(connection);
    await streams.add({
      name: stream,
      subjects: [`${prefix}.stored`],
      storage: StorageType.Memory,
      max_msg_size: 1024,
    });
  });
  after(async () => {
    const { streams } = await jetstreamManager(connection);
    await streams.delete(stream);
    await connection.close();
  });

  it('returns where the stream has each message, even one that it already had', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => `${n}`);
    const publish = (id: string) => publisher.publish(`${prefix}.stored`, id, withId(id));
    const first = await Promise.all(ids.map(publish));
    assert.equal(new Set(first.map(({ seq }) => seq)).size, 100);
    assert.ok(first.every(({ duplicate }) => !duplicate));
    const again = await Promise.all(ids.map(publish));
    assert.deepEqual(
      again,
      first.map(({ seq }) => ({ seq, duplicate: true })),
    );
  });

  it('throws what the stream answers', async () => {
    await assert.rejects(publisher.publish(`${prefix}.stored`, 'x'.repeat(2000), headers()), JetStreamApiError);
  });

  it('throws when no stream has the subject', async () => {
    await assert.rejects(publisher.publish(`${prefix}.other`, '', headers()), errors.NoRespondersError);
  });

  it('throws for a subscriber that does not answer, and still takes other answers', async () => {
    connection.subscribe(`${prefix}.silent`);
    const silent = publisher.publish(`${prefix}.silent`, '', headers());
    const { seq } = await publisher.publish(`${prefix}.stored`, '', withId('beside'));
    assert.ok(seq > 0);
    await assert.rejects(silent, errors.TimeoutError);
  });

  it('throws when its connection is closed', async () => {
    const other = await open();
    other.connection.subscribe(`${prefix}.closed`);
    const waiting = assert.rejects(
      other.publisher.publish(`${prefix}.closed`, '', headers()),
      errors.ClosedConnectionError,
    );
    await other.connection.close();
    await waiting;
    await assert.rejects(other.publisher.publish(`${prefix}.stored`, '', headers()), errors.ClosedConnectionError);
  });
});
