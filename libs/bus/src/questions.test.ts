import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { connectBus } from './connect-bus.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';
const log = createLogger('test', 'silent');
const connect = (name: string) => connectBus({ urls: TEST_NATS_URL, name, log });

describe('questions between processes', { skip }, () => {
  it('reach the one process that answers at a place, until it ends', async () => {
    const [one, other] = [connect('one'), connect('other')];
    const place = `test-${crypto.randomUUID()}`;
    // Before there is a connection, too.
    const end = other.answerAt(place, async (text) => `${text} answered`);
    await eventually(() => one.connected && other.connected);
    await other.ping();
    assert.equal(await one.ask(place, 'first'), 'first answered');
    assert.equal(await other.ask(place, 'own'), 'own answered');
    assert.equal(await one.ask(`${place}-other`, 'nobody'), undefined);
    end();
    await other.ping();
    assert.equal(await one.ask(place, 'gone'), undefined);
    await Promise.all([one.close(), other.close()]);
  });

  it('are refused when they are too large, and without a connection', async () => {
    const bus = connect('one');
    await eventually(() => bus.connected);
    const place = `test-${crypto.randomUUID()}`;
    bus.answerAt(place, async () => 'x');
    await bus.ping();
    await assert.rejects(bus.ask(place, 'x'.repeat(bus.maxPayloadBytes() + 1)), { status: 413 });
    await bus.close();
    await assert.rejects(bus.ask(place, 'x'), { status: 503 });
  });
});
