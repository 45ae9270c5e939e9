import assert from 'node:assert/strict';
import { openLive } from '../../harness/clients/live-client.ts';
import { textAt } from '../../harness/json.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';
import { createNotes, join, password } from './notes.ts';

const notes = { collection: 'notes' };

onEachTopology('live connections end with the rights that opened them', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();

  const endings: readonly (readonly [string, (person: Awaited<ReturnType<typeof join>>) => Promise<unknown>])[] = [
    ['a sign-out', ({ client }) => client.send('POST', '/api/v1/auth/people/logout')],
    ['a deleted account', ({ id }) => admin.delete(`/api/v1/people/${id}`)],
    [
      'a changed password',
      ({ client, id }) => client.patch(`/api/v1/people/${id}`, { password: `${password} 2`, old_password: password }),
    ],
  ];
  for (const [n, [name, end]] of endings.entries())
    await t.test(`${name} closes the connection [realtime §5.1]`, async () => {
      const person = await join(target, `person${n}`);
      await using live = await openLive(target.url, [notes], { token: person.token });
      await live.arrived('ready');
      const beganAtMs = performance.now();
      await end(person);
      const [revoked] = await live.arrived('revoked');
      assert.match(textAt(revoked?.data, 'reason'), /^(session_ended|account_changed)$/);
      await live.closed();
      t.diagnostic(`${name}: ${Math.round(performance.now() - beganAtMs)} ms`);
      await using after = await openLive(target.url, [notes], { token: person.token });
      assert.notEqual(after.messages.at(0)?.type, 'ready');
    });

  await t.test("others' connections stay open [realtime §5.1]", async () => {
    const [ada, bob] = [await join(target, 'ada'), await join(target, 'bob')];
    await using toBob = await openLive(target.url, [notes], { token: bob.token });
    await using toGuest = await openLive(target.url, [notes]);
    await using toAda = await openLive(target.url, [notes], { token: ada.token });
    await ada.client.send('POST', '/api/v1/auth/people/logout');
    await toAda.closed();
    await admin.create('notes', { text: 'after' });
    await toBob.arrived('create');
    await toGuest.arrived('create');
  });
});
