import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '../connection/connection.ts';
import type { Frame } from '../messages/frame.ts';
import { Channel } from './channel.ts';
import { ChannelSubscription } from './channel-subscription.ts';
import { Members } from './members.ts';

/** Waits until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  const endsAtMs = performance.now() + 30_000;
  while (!holds() && performance.now() < endsAtMs) await setImmediate();
}

test('a channel drops and reports broadcasts while 256 wait, and then continues [realtime §7.4]', async () => {
  let [sent, dropped] = [0, 0];
  const members = new Members(() => {});
  const channel = new Channel('c', { members, onSent: () => {}, onDropped: () => (dropped += 1) });
  const connection = {
    // The first message takes longer than a slice of the event loop, so the others wait.
    send(_: Frame) {
      const untilMs = performance.now() + (sent === 0 ? 10 : 0);
      while (performance.now() < untilMs);
      sent += 1;
    },
  } as Partial<Connection> as Connection;
  const admission = { rule: null, checkAgainAtMs: Number.POSITIVE_INFINITY };
  channel.add(new ChannelSubscription({ id: '1', channel: 'c', presence: undefined }, connection, admission, () => {}));
  for (let n = 0; n < 300; n += 1) channel.broadcast(String(n), '{}');
  await until(() => sent >= 257);
  assert.deepEqual([sent, dropped], [257, 43]);
  channel.broadcast('1', '{}');
  await until(() => sent >= 258);
  assert.deepEqual([sent, dropped], [258, 43]);
});
