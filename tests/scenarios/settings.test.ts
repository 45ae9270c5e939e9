import assert from 'node:assert/strict';
import { listAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const path = '/api/v1/admin/settings';
const secret = 'hunter2-of-the-settings';

/** The defaults (docs/settings.md), without mail texts and long lists. */
const documentedDefaults = {
  'smtp.enabled': '0',
  'smtp.host': '',
  'smtp.port': '587',
  'smtp.secure': '0',
  'smtp.user': '',
  'smtp.pass': '',
  'smtp.from': '',
  'app.url': '',
  'email.verify.subject': 'Verify your email',
  'email.reset.subject': 'Reset your password',
  'email.otp.subject': 'Your sign-in code',
  'auth.otp.enabled': '0',
  'auth.mfa.enabled': '1',
  'auth.anonymous.enabled': '0',
  'auth.impersonation.enabled': '1',
  'cors.origins': '',
  'cors.methods': 'GET,POST,PUT,PATCH,DELETE,OPTIONS',
  'cors.headers': 'Authorization,Content-Type,If-Match,X-Service-Idempotency-Key',
  'cors.credentials': '0',
  'cors.max_age': '600',
  'openapi.audience': 'all',
  'password.min_length': '12',
  'password.require_upper': '0',
  'password.require_lower': '0',
  'password.require_digit': '0',
  'password.require_symbol': '0',
  'password.hibp_check': '0',
  'auth.lockout.max_attempts': '0',
  'auth.lockout.duration_seconds': '900',
  'security.trusted_proxies': '',
  'metrics.enabled': '0',
  'metrics.token': '',
  'theme.accent': '#3b82f6',
  'update_check.enabled': '1',
  'hooks.http.allow': '',
  'oauth2.google.enabled': '0',
  'oauth2.oidc.scopes': 'openid profile email',
  'auth.user.window_seconds': '604800',
  'auth.admin.window_seconds': '604800',
  'auth.anonymous.window_seconds': '2592000',
  'auth.impersonate.window_seconds': '3600',
  'auth.refresh.window_seconds': '604800',
  'auth.file.window_seconds': '3600',
  'webhooks.retention_days': '30',
  'audit.retention_days': '365',
  'logs.retention_days': '7',
};

const theme = {
  accent: '#3b82f6',
  accent_hover: '#4a8ef7',
  accent_light: '#60a5fa',
  bg_app: '#0e0f12',
  bg_sidebar: '#131418',
  bg_panel: '#181a1f',
  text_primary: '#e6e8ed',
  text_secondary: '#9aa0ac',
  success: '#22c55e',
  warning: '#f59e0b',
  danger: '#ef4444',
};

const settingsOf = async (target: Target) => objectAt((await (await target.admin()).get(path)).json, 'data');

const patch = (name: string, body: object, expect: Scenario['expect'], spec = 'settings §1.3'): Scenario => ({
  name,
  as: 'admin',
  request: `PATCH ${path}`,
  body,
  expect,
  spec,
});
const shows = (settings: Readonly<Record<string, unknown>>): Scenario['expect'] => ({
  status: 200,
  json: { data: is.containing(settings) },
});

onEachTopology('settings are read and changed', async (t, target) => {
  const beforehand = await settingsOf(target);
  const unchanged: Scenario = {
    name: 'unchanged settings after a refused patch',
    as: 'admin',
    request: `GET ${path}`,
    expect: { status: 200, json: { data: beforehand } },
    spec: 'settings §1.3',
  };
  await runScenarios(t, target, [
    {
      name: 'all settings, including defaults',
      as: 'admin',
      request: `GET ${path}`,
      expect: shows(documentedDefaults),
      spec: 'settings §1.2',
    },
    patch(
      'an unknown setting, one that is not a text and an invalid one',
      {
        'cors.max_age': '5',
        'no.such': 'x',
        'smtp.enabled': true,
        'smtp.port': 'mail',
        'smtp.host': null,
      },
      refused.invalid('no.such', 'smtp.enabled', 'smtp.port', 'smtp.host'),
    ),
    unchanged,
    patch('a body that is not an object', ['smtp.host'], refused.malformed),
    unchanged,
    patch('no settings', {}, { status: 200, json: { data: beforehand } }),
    patch(
      'some settings',
      { 'cors.max_age': '5', 'smtp.pass': secret },
      shows({ 'cors.max_age': '5', 'smtp.pass': secret, 'smtp.port': '587' }),
      'settings §1.3',
    ),
    patch(
      'another setting, which keeps the former ones',
      { 'smtp.port': '25' },
      shows({ 'cors.max_age': '5', 'smtp.pass': secret, 'smtp.port': '25' }),
      'settings §1.3',
    ),
    patch('a new value for a secret', { 'smtp.pass': `${secret}!` }, shows({ 'smtp.pass': `${secret}!` })),
    patch(
      'empty texts, which restore the defaults',
      { 'cors.max_age': '', 'smtp.pass': '', 'smtp.port': '' },
      { status: 200, json: { data: beforehand } },
      'settings §1.4',
    ),
    patch(
      'values below the minimum, which is used instead',
      { 'password.min_length': '3', 'auth.lockout.duration_seconds': '59' },
      shows({ 'password.min_length': '8', 'auth.lockout.duration_seconds': '60' }),
      'settings §1.4',
    ),
    patch(
      'session lifetimes out of range, whose defaults are used',
      { 'auth.user.window_seconds': '59', 'auth.file.window_seconds': 'soon' },
      shows({ 'auth.user.window_seconds': '604800', 'auth.file.window_seconds': '3600' }),
      'auth §9.1',
    ),
    patch(
      'empty texts, which restore the defaults',
      {
        'password.min_length': '',
        'auth.lockout.duration_seconds': '',
        'auth.user.window_seconds': '',
        'auth.file.window_seconds': '',
      },
      { status: 200, json: { data: beforehand } },
      'settings §1.4',
    ),
    ...(['GET', 'PATCH'] as const).flatMap((method): Scenario[] => [
      {
        name: `${method} by a user`,
        as: 'user',
        request: `${method} ${path}`,
        ...(method === 'PATCH' && { body: {} }),
        expect: refused.forbidden,
        spec: 'http §6.3',
      },
      {
        name: `${method} by a guest`,
        request: `${method} ${path}`,
        ...(method === 'PATCH' && { body: {} }),
        expect: refused.unauthenticated,
        spec: 'http §6.2',
      },
    ]),
  ]);

  await t.test('one answer names every setting with an invalid text [settings §1.3]', async () => {
    const bad = Object.fromEntries(Object.entries(beforehand).map(([key, text]) => [key, badText(String(text))]));
    const { status, json } = await (await target.admin()).send('PATCH', path, { body: bad });
    assert.equal(status, 422);
    assert.deepEqual(Object.keys(objectAt(json, 'details')).sort(), Object.keys(beforehand).sort());
    assert.deepEqual(await settingsOf(target), beforehand);
  });

  await t.test('the audit row names keys, not values [settings §1.6]', async () => {
    const { json, text } = await (await target.admin()).get('/api/v1/admin/audit?action=settings.update&perPage=1000');
    const keys = listAt(json, 'data').map(({ details }) => details);
    assert.ok(keys.some((details) => JSON.stringify(details) === '{"keys":["smtp.pass","cors.max_age"]}'));
    assert.ok(!text.includes(secret));
  });
});

/** Returns an invalid text for a setting with this default: a flag, number, window or colour. */
function badText(defaultText: string): string {
  if (/^[01]$/.test(defaultText)) return 'maybe';
  if (/^#/.test(defaultText)) return 'red';
  return 'a\0b';
}

onEachTopology('the theme is public', async (t, target) => {
  const get = (name: string, data: object, spec: string): Scenario => ({
    name,
    request: 'GET /api/v1/admin/theme',
    expect: { status: 200, json: { data } },
    spec,
  });
  await runScenarios(t, target, [
    get('the default colours by name', theme, 'settings §1.7'),
    patch(
      'colours in all three forms',
      { 'theme.accent': '#ABC', 'theme.bg_app': '#01020304', 'theme.danger': '#a1b2c3' },
      shows({ 'theme.accent': '#ABC' }),
      'settings §5',
    ),
    get('the changed colours', { ...theme, accent: '#ABC', bg_app: '#01020304', danger: '#a1b2c3' }, 'settings §5'),
    ...['red', '#12', '#12345', '#ggg', 'abc', 'rgb(0,0,0)', '#abc;}'].map((colour) =>
      patch(`the invalid colour ${colour}`, { 'theme.accent': colour }, refused.invalid('theme.accent'), 'settings §5'),
    ),
    patch(
      'empty colours',
      { 'theme.accent': '', 'theme.bg_app': '', 'theme.danger': '' },
      { status: 200 },
      'settings §5',
    ),
    get('the default colours again', theme, 'settings §5'),
  ]);
});

onEachTopology('a mail template is stored only if all of it is filled', async (t, target) => {
  const admin = await target.admin();
  const patch = (body: object) => admin.send('PATCH', '/api/v1/admin/settings', { body });
  await t.test('braces that are never filled are 422 and name the template [mail §2.3]', async () => {
    for (const text of [
      'Hello {{#if email}}you{{/if}}',
      'Hello {{email',
      '{{ email }',
      '{{}}',
      '{{user.name}}',
      '{{{email}}}',
    ])
      for (const key of ['email.verify.body', 'email.verify.subject']) {
        const { status, json } = await patch({ [key]: text });
        assert.equal(status, 422, text);
        assert.match(String(objectAt(json, 'details')[key]), /is not filled/, text);
      }
  });
  await t.test('other braces are text [mail §2.3]', async () => {
    const body = '<style>@media print{p{color:red}}</style><p>{ {{email}} } {{ link }}</p>';
    assert.equal((await patch({ 'email.verify.body': body })).status, 200);
    assert.equal((await patch({ 'email.verify.body': '' })).status, 200);
  });
});
