import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedSettings } from '../fixed-settings.ts';
import { findNamedKey, isSecretKey, namedKey, settingsPatch } from '../index.ts';

const messageOf = (key: string, text: string): string | undefined =>
  settingsPatch.safeParse({ [key]: text }).error?.issues[0]?.message;

test('a key with a name belongs to a family', () => {
  assert.deepEqual(findNamedKey('auth.sign_up.users'), { family: 'auth.sign_up.<collection>', name: 'users' });
  assert.deepEqual(findNamedKey('oauth2.providers.oidc.our-own.issuer'), {
    family: 'oauth2.providers.oidc.<name>.issuer',
    name: 'our-own',
  });
  assert.deepEqual(findNamedKey('email.change_notice.body.zh-Hant-TW'), {
    family: 'email.change_notice.body.<lang>',
    name: 'zh-Hant-TW',
  });
  for (const key of [
    'email.verify.subject.',
    'email.verify.subject.DE',
    'email.verify.subject.de-at',
    'email.verify.subject.de_AT',
    'email.verify.subject.__proto__',
    'email.verify.text.de',
    'email.lang.de',
    'auth.sign_up.',
    'auth.sign_up.a.b',
    'auth.sign_up.1a',
    `auth.sign_up.${'a'.repeat(1_000_000)}`,
    'oauth2.providers.oidc.Own.issuer',
    'oauth2.providers.oidc.issuer',
    'oauth2.providers.oidc..issuer',
    'oauth2.providers.oidc.a.nothing',
  ])
    assert.equal(findNamedKey(key), undefined, key.slice(0, 60));
  assert.equal(namedKey('auth.sign_up.<collection>', '$&'), 'auth.sign_up.$&');
});

test("a key's last part, not its name, makes it a secret", () => {
  assert.ok(isSecretKey('oauth2.providers.oidc.own.client_secret'));
  for (const key of ['auth.sign_up.token', 'oauth2.profile.password', 'oauth2.providers.oidc.secret.issuer'])
    assert.ok(!isSecretKey(key), key);
});

test("families' values are validated like other settings'", () => {
  for (const [key, text] of [
    ['auth.sign_up.users', 'closed'],
    ['oauth2.verified_email.users', '1'],
    ['oauth2.profile.users', '{"nick":"username","photo":"avatar_url"}'],
    ['oauth2.providers.oidc.own.issuer', 'https://id.example.com/realms/own'],
    ['auth.sign_up.users', ''],
    ['mail.locale_field.users', 'language'],
    ['email.verify.subject.de', 'Willkommen, {{email}}'],
    ['email.verify.body.de-AT', '<p>Servus</p>\n{{link}}'],
    ['auth.identity.users', 'username, phone'],
    ['auth.methods.users', 'oauth2, passkey'],
    ['auth.methods.users', 'none'],
  ] as const)
    assert.equal(messageOf(key, text), undefined, `${key} ${text}`);
  for (const [key, text, message] of [
    ['auth.sign_up.users', 'shut', /open or closed/],
    ['oauth2.verified_email.users', 'yes', /"0" or "1"/],
    ['auth.identity.users', ' , ', /name a field/],
    ['auth.identity.users', 'a,a', /twice/],
    ['auth.identity.users', 'a b', /names of fields/],
    ['auth.identity.users', 'a,b,c,d,e,f', /at most 5/],
    ['auth.methods.users', ',', /must name some of/],
    ['auth.methods.users', 'otp,otp', /twice/],
    ['auth.methods.users', 'none,otp', /none alone/],
    ['auth.methods.users', 'sms', /some of password, otp/],
    ['mail.locale_field.users', 'a b', /name of a field/],
    ['mail.locale_field.users', '__proto__', /name of a field/],
    ['email.verify.subject.de', 'a\nBcc: eve@example.com', /one line/],
    ['email.verify.subject.de', 'x'.repeat(401), /at most 400/],
    ['email.verify.body.de', '{{code}}', /not a variable/],
    ['email.verify.body.de', 'x'.repeat(100_001), /at most 100000/],
    ['oauth2.profile.users', '{"nick":"password"}', /JSON object/],
    ['oauth2.profile.users', '["name"]', /JSON object/],
    ['oauth2.profile.users', '{', /JSON object/],
    ['oauth2.providers.oidc.own.issuer', 'id.example.com', /URL/],
  ] as const)
    assert.match(messageOf(key, text) ?? '', message, `${key} ${text}`);
});

test('each stored name has its value, other names the default', () => {
  const settings = fixedSettings({
    'auth.sign_up.users': 'closed',
    'auth.identity.users': 'username,phone',
    'oauth2.profile.users': '{"nick":"name"}',
    'oauth2.providers.oidc.b.enabled': '1',
    'oauth2.providers.oidc.a.enabled': '0',
  });
  assert.equal(settings.getNamed('auth.sign_up.<collection>', 'users'), 'closed');
  assert.equal(settings.getNamed('auth.sign_up.<collection>', 'people'), 'open');
  assert.deepEqual(settings.getNamed('auth.identity.<collection>', 'users'), ['username', 'phone']);
  assert.deepEqual(settings.getNamed('auth.identity.<collection>', 'people'), []);
  assert.deepEqual(settings.getNamed('oauth2.profile.<collection>', 'users'), { nick: 'name' });
  assert.deepEqual(settings.getNamed('oauth2.profile.<collection>', 'people'), {});
  assert.deepEqual(settings.namesOf('oauth2.providers.oidc.<name>.enabled'), ['a', 'b']);
});
