import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../../test/row.ts';
import { gatewayRows } from '../../test/rows/gateway.ts';
import { mailRows } from '../../test/rows/mail.ts';
import { oauthRows } from '../../test/rows/oauth.ts';
import { operationsRows } from '../../test/rows/operations.ts';
import { pushRows } from '../../test/rows/push.ts';
import { signInRows } from '../../test/rows/sign-in.ts';
import { isSecretKey, type SettingKey, settingGroups, settingKeys, settingOf, settingsPatch } from '../index.ts';
import { oauthProviderNames } from './oauth-providers.ts';

const table: Record<SettingKey, Row> = {
  ...gatewayRows,
  ...mailRows,
  ...signInRows,
  ...oauthRows,
  ...pushRows,
  ...operationsRows,
};

test("the docs' table has exactly the settings", () => {
  assert.deepEqual(Object.keys(table).toSorted(), [...settingKeys].toSorted());
});

for (const key of settingKeys) {
  const { text, good, bad } = table[key];
  const { schema, defaultText, defaultValue, about } = settingOf(key);

  test(key, async (t) => {
    await t.test('has a one-line description and the documented default', () => {
      assert.match(about, /^[^\n]+\.$/);
      if (text !== '*') assert.equal(defaultText, text);
      if ('value' in table[key]) assert.deepEqual(defaultValue, table[key].value);
      else assert.deepEqual(defaultValue, text === '' ? '' : schema.parse(defaultText));
    });
    await t.test('accepts valid texts', () => {
      for (const [input, value] of good) {
        assert.ok(settingsPatch.safeParse({ [key]: input }).success, input);
        assert.deepEqual(schema.parse(input), value, input);
      }
      assert.ok(settingsPatch.safeParse({ [key]: '' }).success);
    });
    await t.test('refuses invalid texts', () => {
      for (const input of [5, true, null, ['a'], {}]) assert.match(problemOf(key, input), /^must be a string$/);
      assert.match(problemOf(key, 'a\0b'), /./);
      for (const [input, message] of bad) assert.match(problemOf(key, input), message, input);
    });
  });
}

function problemOf(key: string, value: unknown): string {
  const result = settingsPatch.safeParse({ [key]: value });
  assert.ok(!result.success, `${key} takes ${JSON.stringify(value)}`);
  assert.deepEqual(result.error.issues[0]?.path, [key]);
  return result.error.issues[0]?.message ?? '';
}

test('secrets are the keys with secret endings [settings §4.1]', () => {
  const fixed = [
    'smtp.pass',
    'mail.inbound.postmark.secret',
    'mail.inbound.mailgun.secret',
    'mail.inbound.ses.secret',
    'metrics.token',
    'oauth2.apple.private_key',
    'notifications.providers.onesignal.api_key',
    'notifications.providers.fcm.service_account',
  ];
  const secrets = [...fixed, ...oauthProviderNames.map((name) => `oauth2.${name}.client_secret`)];
  assert.deepEqual(settingKeys.filter(isSecretKey).toSorted(), secrets.toSorted());
  for (const key of ['a.PASSWORD', 'a.apikey', 'a.secret', 'a.privateKey', 'a.access_key', 'a.accesskey'])
    assert.ok(isSecretKey(key), key);
  for (const key of ['password.min_length', 'token', 'smtp.password_hint']) assert.ok(!isSecretKey(key), key);
});

test('every group has a title, readers, and keys that no other group has', () => {
  const keys = settingGroups.flatMap(({ settings }) => Object.keys(settings));
  assert.equal(new Set(keys).size, keys.length);
  for (const { title, readBy } of settingGroups) assert.ok(title !== '' && readBy.length > 0, title);
});

test('a patch names each wrong key, unknown ones included', () => {
  const result = settingsPatch.safeParse({
    'cors.max_age': 'soon',
    'smtp.enabled': 1,
    'no.such': 'x',
    'theme.accent': '#abc',
  });
  assert.ok(!result.success);
  const issues = result.error.issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : issue.path));
  assert.deepEqual(issues.toSorted(), ['cors.max_age', 'no.such', 'smtp.enabled']);
});
