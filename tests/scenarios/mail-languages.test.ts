import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/admin/settings';
const password = 'a long and winding password';
const templates = ['verify', 'reset', 'otp', 'change', 'change_undo', 'password_notice'];

/** Texts in languages, by their settings. */
const texts: Readonly<Record<string, string>> = {
  'email.verify.subject.de': 'Willkommen',
  'email.verify.body.de': 'Hallo {{email}}: {{link}}',
  'email.verify.body.de-AT': '<p>Servus {{email}}</p>',
  ...Object.fromEntries(templates.map((name) => [`email.${name}.subject.fr`, `fr ${name}`])),
};
/** What a patch is, and how it is refused. */
type Refusal = readonly [name: string, body: object, expect: Scenario['expect']];

const removed = Object.fromEntries(Object.keys(texts).map((key) => [key, '']));

onEachTopology('mails in the language of the account', async (t, target) => {
  await using server = await startMailServer();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'polyglots',
    type: 'auth',
    fields: [
      { name: 'locale', type: 'text', options: { max: 2_000_000 } },
      { name: 'choice', type: 'select', options: { values: ['de-AT', 'fr'] } },
      { name: 'several', type: 'select', options: { values: ['de', 'fr'], multiple: true } },
      { name: 'hidden', type: 'text', options: { encrypted: true } },
      { name: 'age', type: 'number' },
    ],
  });
  await admin.post('/api/v1/collections', { name: 'polyglot_notes', fields: [{ name: 'locale', type: 'text' }] });
  await admin.patch(path, {
    ...server.settings,
    ...texts,
    'mail.locale_field.polyglots': 'locale',
    'auth.otp.enabled': '1',
  });
  const of = '/api/v1/auth/polyglots';
  const register = (name: string, more: object) =>
    target.guest.send('POST', `${of}/register`, {
      body: { email: `${name}@polyglots.example.com`, password, ...more },
    });
  /** Registers an account and returns the verification mail. */
  const welcome = async (name: string, more: object) => {
    const answer = await register(name, more);
    assert.equal(answer.status, 201, answer.text.slice(0, 300));
    return server.mailTo(`${name}@polyglots.example.com`);
  };
  await eventually('mail is configured, with its languages', async () => {
    await register(`probe.${Math.random()}`, { locale: 'fr' });
    return server.received.some(({ email }) => email.subject === 'fr verify');
  });

  const refusals: readonly Refusal[] = [
    ['no such field', { 'mail.locale_field.polyglots': 'language' }, refused.invalid('mail.locale_field.polyglots')],
    ['a number', { 'mail.locale_field.polyglots': 'age' }, refused.invalid('mail.locale_field.polyglots')],
    ['several values', { 'mail.locale_field.polyglots': 'several' }, refused.invalid('mail.locale_field.polyglots')],
    ['an encrypted field', { 'mail.locale_field.polyglots': 'hidden' }, refused.invalid('mail.locale_field.polyglots')],
    ['no field name', { 'mail.locale_field.polyglots': '__proto__' }, refused.invalid('mail.locale_field.polyglots')],
    [
      'a collection without accounts',
      { 'mail.locale_field.polyglot_notes': 'locale' },
      refused.invalid('mail.locale_field.polyglot_notes'),
    ],
    ['an unknown variable', { 'email.reset.body.de': '{{code}}' }, refused.invalid('email.reset.body.de')],
    [
      'a line break in a subject',
      { 'email.otp.subject.de': 'a\nBcc: b@c.de' },
      refused.invalid('email.otp.subject.de'),
    ],
    ...['DE', 'de_AT', 'de-at', 'german', '__proto__', 'x'.repeat(100_000)].map(
      (lang): Refusal => [
        `the language ${lang.slice(0, 10)}`,
        { [`email.reset.body.${lang}`]: 'Hallo' },
        refused.invalid(`email.reset.body.${lang}`),
      ],
    ),
  ];
  await runScenarios(
    t,
    target,
    refusals.map(([name, body, expect]) => ({
      name,
      as: 'admin',
      request: `PATCH ${path}`,
      body,
      expect,
      spec: 'mail §2.7',
    })),
  );

  await t.test('the nearest language counts, for the subject and the text each by itself [mail §2.7]', async () => {
    const of = async (name: string, locale: unknown) => {
      const { email } = await welcome(name, locale === undefined ? {} : { locale });
      const lang = /<html lang="([^"]*)"/.exec(email.html ?? '')?.[1];
      return [email.subject, email.text?.trim().split(' ')[0], lang];
    };
    assert.deepEqual(await of('exact', 'de-AT'), ['Willkommen', 'Servus', 'de-AT']);
    assert.deepEqual(await of('posix', 'de_at.UTF-8'), ['Willkommen', 'Servus', 'de-AT']);
    assert.deepEqual(await of('parent', 'DE-ch'), ['Willkommen', 'Hallo', 'de']);
    assert.deepEqual(await of('subject', 'fr-CA'), ['fr verify', 'Hello,\n\nPlease', 'en']);
    assert.deepEqual(await of('unknown', 'it'), ['Verify your email', 'Hello,\n\nPlease', 'en']);
    assert.deepEqual(await of('none', undefined), ['Verify your email', 'Hello,\n\nPlease', 'en']);
  });

  const hostile: readonly [string, string][] = [
    ['a megabyte', 'de'.repeat(500_000)],
    ['a line break', 'de\r\nBcc: eve@example.com'],
    ['__proto__', '__proto__'],
    ['a template', '{{link}}'],
    ['a tag', 'de"><script>alert(1)</script>'],
    ['odd letters', 'dé-\u202eAT'],
  ];
  for (const [index, [name, locale]] of hostile.entries())
    await t.test(`a field with ${name} means the default [mail §2.7]`, async () => {
      const { email, raw } = await welcome(`hostile${index}`, { locale });
      assert.equal(email.subject, 'Verify your email');
      assert.match(email.html ?? '', /<html lang="en">/);
      assert.doesNotMatch(raw, /^bcc:|<script/im);
    });

  await t.test('every mail to an account is in its language [mail §2.7]', async () => {
    const email = 'whole@polyglots.example.com';
    const { json } = await register('whole', { locale: 'fr' });
    const client = createClient(target.url, textAt(json, 'data.token'));
    const post = async (route: string, body: object) => {
      const answer = await client.send('POST', `${of}/${route}`, { body });
      assert.equal(answer.status, 200, `${route}: ${answer.text}`);
    };
    const { token } = await server.mailTo(email, { subject: 'fr verify' });
    await post('verify-email', { token });
    await post('request-password-reset', { email });
    await server.mailTo(email, { subject: 'fr reset' });
    await post('otp/request', { email });
    await server.mailTo(email, { subject: 'fr otp' });
    const moved = 'moved@polyglots.example.com';
    await post('request-email-change', { email: moved, old_password: password });
    const change = await server.mailTo(moved, { subject: 'fr change' });
    await post('confirm-email-change', { token: change.token });
    await server.mailTo(email, { subject: 'fr change_undo' });
    await post('change-password', { old_password: password, password: `${password} again` });
    await server.mailTo(moved, { subject: 'fr password_notice' });
  });

  await t.test('the setting follows a renamed field and collection, and ends with the field [mail §2.7]', async () => {
    const settings = async () => objectAt((await admin.get(path)).json, 'data') as JsonObject;
    const change = async (name: string, edit: (fields: JsonObject[]) => JsonObject[], more: object = {}) => {
      const { json } = await admin.get(`/api/v1/collections/${name}`);
      const given = at(json, 'data.fields');
      const fields = (typeof given === 'string' ? JSON.parse(given) : given) as JsonObject[];
      await admin.patch(`/api/v1/collections/${name}`, { fields: edit(fields), ...more });
    };
    const rename = (from: string, to: string) => (fields: JsonObject[]) =>
      fields.map((field) => (field.name === from ? { ...field, name: to } : field));
    await change('polyglots', rename('locale', 'tongue'));
    assert.equal((await settings())['mail.locale_field.polyglots'], 'tongue');
    await eventually('mails follow the renamed field', async () => {
      const name = `renamed.${Math.random()}`;
      return (await welcome(name, { tongue: 'de' })).email.subject === 'Willkommen';
    });
    await change('polyglots', (fields) => fields, { name: 'linguists' });
    const renamed = await settings();
    assert.equal(renamed['mail.locale_field.linguists'], 'tongue');
    assert.equal(renamed['mail.locale_field.polyglots'], undefined);
    await admin.patch(path, { 'mail.locale_field.linguists': 'choice' });
    await change('linguists', (fields) => fields.filter(({ name }) => name !== 'choice'));
    assert.equal((await settings())['mail.locale_field.linguists'], undefined);
  });

  await t.test('the groups list the texts of each language that has one [settings §3.3]', async () => {
    const groups = listAt((await admin.get(`${path}/groups`)).json, 'data');
    const keys = groups.flatMap((group) => listAt(group, 'settings').map(({ key }) => String(key)));
    const inLanguage = (lang: string) => keys.filter((key) => key.startsWith('email.') && key.endsWith(`.${lang}`));
    const all = keys.filter((key) => /^email\.\w+\.(subject|body)$/.test(key)).map((key) => `${key}.de`);
    assert.deepEqual(inLanguage('de'), all);
    assert.deepEqual(inLanguage('it'), []);
  });
  await admin.patch(path, { ...removed, 'smtp.enabled': '0', 'auth.otp.enabled': '' });
});
