import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { createGround, startStack, usualEnvironment } from '../harness/stacks/stack.ts';
import { provideEventSource } from '../pocketbase-clients/event-source.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { openRawStream } from '../pocketbase-clients/raw-stream.ts';
import { castOf, idOf } from '../pocketbase-clients/side.ts';

provideEventSource();

test("a client's topics reach its stream at another replica, and its missed changes too", async () => {
  await using ground = await createGround();
  await using first = await startStack({ topology: 'one', ground, environment: usualEnvironment });
  await using second = await startStack({ topology: 'one', beside: ground, environment: usualEnvironment });
  const { alice, bob } = await castOf(ourSide(first));
  await eventually('the second replica has the setting', async () => (await fetch(`${second.url}/pb/api/health`)).ok);
  // The stream is at the first replica; every other request goes to the second one.
  alice.beforeSend = (url, options) => ({ url: url.replace(first.url, second.url), options });
  const seen: unknown[] = [];
  await alice.collection('notes').subscribe('*', ({ action, record }) => seen.push(`${action} ${record.text}`));
  await alice.collection('notes').create({ text: 'mine', author: idOf(alice) });
  await eventually('the change', () => seen.length > 0);
  assert.deepEqual(seen, ['create mine']);

  const submit = (clientId: string, token: string) =>
    fetch(`${second.url}/pb/api/realtime`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: token },
      body: JSON.stringify({ clientId, subscriptions: ['notes/*'] }),
    });
  assert.equal((await submit(alice.realtime.clientId, bob.authStore.token)).status, 403);
  assert.equal((await submit('forged', bob.authStore.token)).status, 404);
  await alice.realtime.unsubscribe();

  const { token } = alice.authStore;
  const open = await openRawStream(`${first.url}/pb`, ['notes/*?killed=1'], { token, postTo: `${second.url}/pb` });
  process.kill(first.process.pid, 'SIGKILL');
  await open.cut();
  await alice.collection('notes').create({ text: 'missed', author: idOf(alice) });
  const back = await openRawStream(`${second.url}/pb`, ['notes/*?killed=1'], { token });
  await back.waitFor('text', 'missed');
  await back.cut();
});
