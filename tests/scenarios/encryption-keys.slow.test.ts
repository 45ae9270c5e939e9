import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { startStack } from '../harness/stack.ts';
import { define, encrypted, rowsIn, secrets, shown } from './vault.ts';

const empty = { note: '', mail: '', site: '', extra: null };

/** Three replicas on one ground: without a key, with one, and with another. */
test('what is stored without an encryption key, with one, and read with another', async (t) => {
  await using keyless = await startStack({ topology: 'one' });
  const beside = (key: string) =>
    startStack({ topology: 'one', beside: keyless.ground, environment: { SERVICE_ENCRYPTION_KEY: key } });
  const admin = await keyless.admin();
  const fields = [encrypted('note'), encrypted('mail', 'email'), encrypted('site', 'url'), encrypted('extra', 'json')];
  await define(admin, 'vault', [...fields, { name: 'title', type: 'text' }]);
  const plain = await keyless.guest.create('vault', { note: secrets.note });

  await t.test('without one fields are kept in plain text, which is warned of once [contract §2]', async () => {
    assert.equal(plain.note, secrets.note);
    const warnings = () =>
      keyless.process.lines.filter((line) => line.includes('stored in plain text') && line.includes('note'));
    await keyless.guest.create('vault', { note: secrets.note });
    await eventually('it warns', () => warnings().length > 0);
    assert.equal(warnings().length, 1);
  });

  await t.test('so are secret settings, which is warned of once for each key [interface §2.7]', async () => {
    const secret = 'hunter2-of-the-settings';
    for (const pass of [secret, `${secret}!`]) await admin.patch('/api/v1/admin/settings', { 'smtp.pass': pass });
    const warnings = () => keyless.process.lines.filter((line) => line.includes('SERVICE_ENCRYPTION_KEY is not set'));
    const ofMail = () => warnings().filter((line) => line.includes('smtp.pass'));
    await eventually('it warns', () => ofMail().length > 0);
    assert.equal(ofMail().length, 1, warnings().join('\n'));
    assert.ok(!keyless.process.lines.some((line) => line.includes(secret)));
  });

  await using keyed = await beside('a'.repeat(64));
  const holder = createClient(keyed.url);
  await t.test('who has one reads what is in plain text, and seals what they write', async () => {
    const path = `/api/v1/vault/${plain.id}`;
    assert.equal(textAt((await holder.get(path)).json, 'data.note'), secrets.note);
    await holder.patch(path, { note: 'meet at the pier' });
    assert.doesNotMatch((await rowsIn(keyless.ground.databaseUrl, 'records.vault')).join(), /pier/);
    assert.equal(textAt((await holder.get(path)).json, 'data.note'), 'meet at the pier');
  });

  const path = `/api/v1/vault/${(await holder.create('vault', { title: 'one', ...secrets })).id}`;
  await using other = await beside('another key');
  for (const [which, stack] of Object.entries({ 'another key': other, 'no key': keyless }))
    await t.test(`${which} reads nothing and loses nothing`, async () => {
      const guest = createClient(stack.url);
      for (const _ of [1, 2]) assert.deepEqual(shown(objectAt((await guest.get(path)).json, 'data')), empty);
      assert.deepEqual(shown(await guest.patch(path, { title: 'two' })), empty);
      const complaints = () => stack.process.lines.filter((line) => line.includes('does not open it'));
      await eventually('it is complained of', () => complaints().length > 0);
      assert.equal(complaints().filter((line) => line.includes('"note"')).length, 1);
      assert.deepEqual(shown(objectAt((await holder.get(path)).json, 'data')), secrets);
    });
});
