import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { type MailServer, startMailServer } from '../harness/servers/mail-server.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, collections, type Ground, ownersKey, prepare } from './firms.ts';

const failing = 'Your webhook fails';
const disabled = 'Your webhook was disabled';
const settingsPath = '/api/v1/admin/settings';
const askToDisable = { status: 200, headers: { 'webhook-delivery': 'disable' } } as const;

const subjectsTo = (mail: MailServer, address: string) =>
  mail.received.filter(({ recipients }) => recipients.includes(address)).map(({ email }) => email.subject);

const stateOf = async (admin: Client, id: unknown) =>
  at((await admin.get(`${adminPath}/${id}/status`)).json, 'data.state');

/** Gives firms an address and a boss, and turns mail on. */
async function prepareMail(mail: MailServer, { admin, firms: [north, south], allow }: Ground): Promise<void> {
  const fields = [
    { name: 'name', type: 'text' },
    { name: 'contact', type: 'email' },
    { name: 'boss', type: 'relation', collection: 'staff' },
  ];
  const { status, text } = await admin.send('PATCH', `${collections}/firms`, { body: { fields } });
  assert.equal(status, 200, text);
  await admin.patch(`/api/v1/firms/${north}`, { contact: 'north@example.com' });
  await admin.patch(`/api/v1/firms/${south}`, { contact: 'south@example.com' });
  await admin.patch(settingsPath, mail.settings);
  await allow({ mail: 'contact' });
}

onEachTopology("mails tell a webhook's owner that it fails [webhooks §6.5]", async (t, target) => {
  await using receiver = await startReceiver();
  await using mail = await startMailServer();
  const ground = await prepare(target, receiver);
  const {
    admin,
    firms: [north, south],
    setRule,
    own,
    allow,
  } = ground;
  await prepareMail(mail, ground);

  await t.test('once for each run of failures, and at the disabling', async () => {
    await admin.patch(settingsPath, { 'webhooks.mail_after_seconds': '1', 'webhooks.pause_after_seconds': '0' });
    await setRule('firm = @owner.id');
    const id = await own(north, new URL('/secret-path', receiver.url).href);
    await admin.patch(`${adminPath}/${id}`, { retry_max: 50, retry_backoff: 'fixed', retry_delay_ms: 1000 });
    receiver.behave({ status: 500 });
    // As many as make a run of failures, which then lasts until the mails have come.
    for (let count = 0; count < 5; count += 1) await admin.create('orders', { firm: north });
    const { email } = await mail.mailTo('north@example.com', { subject: failing });
    assert.match(
      email.text ?? '',
      /webhook of a firm at 127\.0\.0\.1:\d+ has failed since \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
    );
    assert.doesNotMatch(email.text ?? '', /secret-path/);
    await admin.patch(settingsPath, { 'webhooks.disable_after_seconds': '1' });
    const { email: last } = await mail.mailTo('north@example.com', { subject: disabled });
    assert.match(last.text ?? '', /was disabled: all requests have failed since \d{4}-/);
    assert.equal(await stateOf(admin, id), 'disabled');
    assert.deepEqual(subjectsTo(mail, 'north@example.com'), [failing, disabled]);

    await admin.patch(settingsPath, { 'webhooks.disable_after_seconds': '0' });
    await admin.patch(`${adminPath}/${id}`, { enabled: true });
    await mail.mailTo('north@example.com', { subject: failing, count: 2 });
    await admin.delete(`${adminPath}/${id}`);
  });

  /** Has a webhook's receiver ask to be disabled. */
  async function disable(id: unknown): Promise<void> {
    receiver.behave(askToDisable);
    await admin.patch(`${adminPath}/${id}`, { enabled: true });
    await admin.send('POST', `${adminPath}/${id}/test`);
    await eventually('it is disabled', async () => (await stateOf(admin, id)) === 'disabled');
  }

  await t.test('when the receiver asks to be disabled', async () => {
    await disable(await own(south, receiver.url));
    const { email } = await mail.mailTo('south@example.com', { subject: disabled });
    assert.match(email.text ?? '', /was disabled: its receiver asked for it\./);
  });

  await t.test("through a relation, to an account's verified address only", async () => {
    const password = 'a long and winding password';
    const account = async (email: string, verified: boolean) =>
      (await admin.create('staff', { email, password, verified, firm: north })).id;
    await allow({ mail: 'boss.email' });
    const owned = await own(north, receiver.url);
    await admin.patch(`/api/v1/firms/${north}`, { boss: await account('unproved@example.com', false) });
    await disable(owned);
    await admin.patch(`/api/v1/firms/${north}`, { boss: await account('boss@example.com', true) });
    await disable(owned);
    await mail.mailTo('boss@example.com', { subject: disabled });
    assert.deepEqual(subjectsTo(mail, 'unproved@example.com'), []);
  });

  await t.test("to an account's own verified address", async () => {
    const hosts = [`http://${new URL(receiver.url).host}`];
    await admin.patch(settingsPath, { 'webhooks.owners.staff': JSON.stringify({ hosts }) });
    for (const verified of [false, true]) {
      const email = `own.${verified}@example.com`;
      const { id } = await admin.create('staff', { email, password: 'a long and winding password', verified });
      const owner = { collection: 'staff', id };
      const made = await admin.post(adminPath, { name: 'Own', url: receiver.url, events: ['orders.*'], owner });
      await disable(made.id);
    }
    await mail.mailTo('own.true@example.com', { subject: disabled });
    assert.deepEqual(subjectsTo(mail, 'own.false@example.com'), []);
  });

  await t.test('at most five times in a quarter of an hour', async () => {
    const { id: firm } = await admin.create('firms', { name: 'Noisy', contact: 'noisy@example.com' });
    const { id: calm } = await admin.create('firms', { name: 'Calm', contact: 'calm@example.com' });
    await allow({ mail: 'contact' });
    const id = await own(String(firm), receiver.url);
    for (let count = 0; count < 6; count += 1) await disable(id);
    await disable(await own(String(calm), receiver.url));
    await mail.mailTo('calm@example.com', { subject: disabled });
    await mail.mailTo('noisy@example.com', { subject: disabled, count: 5 });
    assert.equal(subjectsTo(mail, 'noisy@example.com').length, 5);
  });

  for (const [key, path, message] of [
    [ownersKey, 'nothing', 'mail: firms has no field "nothing"'],
    [ownersKey, 'name', 'mail: "name" is not an email field'],
    [ownersKey, 'boss', 'mail: "boss" is not an email field'],
    [ownersKey, 'boss.password', /^mail: /],
    [ownersKey, 'staff_via_firm.email', 'mail: "staff_via_firm.email" leads to several records'],
    [ownersKey, 'contact || name', /^mail: /],
    ['webhooks.owners.staff', 'email', 'mail is for records that are not accounts'],
  ] as const)
    await t.test(`${path} in ${key} is 422`, async () => {
      const body = { [key]: JSON.stringify({ mail: path }) };
      const { status, json } = await admin.send('PATCH', settingsPath, { body });
      assert.equal(status, 422);
      const found = String((at(json, 'details') as Record<string, unknown>)[key]);
      if (typeof message === 'string') assert.equal(found, message);
      else assert.match(found, message);
    });
});
