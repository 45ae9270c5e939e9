import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { createKeylessGround } from '../harness/stacks/keyless-ground.ts';
import { startStack } from '../harness/stacks/stack.ts';
import { define, encrypted, rowsIn, secrets, shown } from './vault.ts';

const empty = { note: '', mail: '', site: '', extra: null };

/** Three replicas on one ground: without a key, with one, and with another. */
test('replicas with different encryption keys share a database', async (t) => {
  await using ground = await createKeylessGround();
  await using keyless = await startStack({ topology: 'one', ground });
  const beside = (key: string) =>
    startStack({ topology: 'one', beside: ground, environment: { SERVICE_ENCRYPTION_KEY: key } });
  const admin = await keyless.admin();
  const fields = [encrypted('note'), encrypted('mail', 'email'), encrypted('site', 'url'), encrypted('extra', 'json')];
  await define(admin, 'vault', [...fields, { name: 'title', type: 'text' }]);
  const plain = await keyless.guest.create('vault', { note: secrets.note });

  await t.test('without a key fields are stored in plain text, with one warning [fields §4.5]', async () => {
    assert.equal(plain.note, secrets.note);
    const warnings = () =>
      keyless.process.lines.filter((line) => line.includes('stored in plain text') && line.includes('note'));
    await keyless.guest.create('vault', { note: secrets.note });
    await eventually('it logs a warning', () => warnings().length > 0);
    assert.equal(warnings().length, 1);
  });

  await t.test(
    'without a key secret settings are stored in plain text, with one warning each [settings §4.2]',
    async () => {
      const secret = 'hunter2-of-the-settings';
      for (const pass of [secret, `${secret}!`]) await admin.patch('/api/v1/admin/settings', { 'smtp.pass': pass });
      const warnings = () => keyless.process.lines.filter((line) => line.includes('SERVICE_ENCRYPTION_KEY is not set'));
      const ofMail = () => warnings().filter((line) => line.includes('smtp.pass'));
      await eventually('it logs a warning', () => ofMail().length > 0);
      assert.equal(ofMail().length, 1, warnings().join('\n'));
      assert.ok(!keyless.process.lines.some((line) => line.includes(secret)));
    },
  );

  await using keyed = await beside('a'.repeat(64));
  const holder = createClient(keyed.url);
  await t.test('a service with a key reads plain text and encrypts what it writes [fields §4.5]', async () => {
    const path = `/api/v1/vault/${plain.id}`;
    assert.equal(textAt((await holder.get(path)).json, 'data.note'), secrets.note);
    await holder.patch(path, { note: 'meet at the pier' });
    assert.doesNotMatch((await rowsIn(keyless.ground.databaseUrl, 'records.vault')).join(), /pier/);
    assert.equal(textAt((await holder.get(path)).json, 'data.note'), 'meet at the pier');
  });

  const path = `/api/v1/vault/${(await holder.create('vault', { title: 'one', ...secrets })).id}`;
  await using other = await beside('another key');
  for (const [which, stack] of Object.entries({ 'another key': other, 'no key': keyless }))
    await t.test(`${which} reads empty values and keeps the stored ones [fields §4.6]`, async () => {
      const guest = createClient(stack.url);
      for (const _ of [1, 2]) assert.deepEqual(shown(objectAt((await guest.get(path)).json, 'data')), empty);
      assert.deepEqual(shown(await guest.patch(path, { title: 'two' })), empty);
      const warnings = () => stack.process.lines.filter((line) => line.includes('cannot be decrypted with'));
      await eventually('it logs a warning about the key', () => warnings().length > 0);
      assert.equal(warnings().filter((line) => line.includes('"note"')).length, 1);
      assert.deepEqual(shown(objectAt((await holder.get(path)).json, 'data')), secrets);
    });
});
