import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { DEFAULT_DENY } from '@recordbus/egress';
import { isSecretKey, type SettingKey, settingGroups, settingKeys, settingOf, settingsPatch } from '../index.ts';
import { oauthProviderNames } from './oauth-providers.ts';

/** What is stored for a key, and its value; `bad` are refused, with a message that the pattern fits. */
interface Row {
  readonly text: string;
  readonly value?: unknown;
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly (readonly [text: string, message: RegExp])[];
}

const day = 86_400;
const pem =
  '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG\nCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----';
const rsaKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaPem = String(rsaKeys.privateKey.export({ type: 'pkcs8', format: 'pem' })).trim();
const rsaPkcs1Pem = String(rsaKeys.privateKey.export({ type: 'pkcs1', format: 'pem' })).trim();
const ecPem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const tooLong = 'x'.repeat(100_001);
const multiLine = 'a\nBcc: eve@example.com';
const account = {
  type: 'service_account',
  project_id: 'my-project',
  private_key: `${rsaPem}\n`,
  client_email: 'push@my-project.iam.gserviceaccount.com',
};

const flag = (text: '0' | '1'): Row => ({
  text,
  good: [
    ['0', false],
    ['1', true],
  ],
  bad: ['2', 'true', 'yes', ' 1', '01'].map((bad) => [bad, /"0" or "1"/]),
});
const colour = (text: string): Row => ({
  text,
  good: [
    ['#abc', '#abc'],
    ['#A1B2C3', '#A1B2C3'],
    ['#11223344', '#11223344'],
  ],
  bad: ['red', 'abc', '#abcd', '#12345', '#ggg', '#abc;x', 'rgb(1,2,3)', '#abc\n'].map((bad) => [
    bad,
    /#RGB, #RRGGBB or #RRGGBBAA/,
  ]),
});
const whole = (text: string, min: number, max: number): Row => ({
  text,
  good: [min, max].map((edge) => [String(edge), edge]),
  bad: ['-1', '1.5', 'abc', '1e3', ' 5', '0x10', '99999999999999999999', String(max + 1)].map((bad) => [
    bad,
    /whole number from \d+ to \d+/,
  ]),
});
const floored = (text: string, floor: number, max: number): Row => ({
  ...whole(text, floor, max),
  good: [
    ['0', floor],
    [String(floor - 1), floor],
    [String(floor), floor],
    [String(floor + 1), floor + 1],
    [String(max), max],
  ],
});
const window = (defaultSec: number): Row => ({
  text: String(defaultSec),
  good: [
    ['60', 60],
    ['86400', day],
    [String(365 * day), 365 * day],
    ...['59', '0', '-5', '1.5', 'abc', ' 3600', String(365 * day + 1), '1e5'].map((bad) => [bad, defaultSec] as const),
  ],
  bad: [['3600\0', /control characters/]],
});
const url: Row = {
  text: '',
  good: [
    ['https://example.com/path?x=1', 'https://example.com/path?x=1'],
    ['http://127.0.0.1:8090', 'http://127.0.0.1:8090'],
  ],
  bad: ['example.com', 'ftp://example.com', 'javascript:alert(1)', 'https://', 'https://a b'].map((bad) => [
    bad,
    /URL that starts with|spaces/,
  ]),
};
const opaque: Row = {
  text: '',
  good: [
    ['abc-123_~.=/+', 'abc-123_~.=/+'],
    ['!"#$', '!"#$'],
  ],
  bad: [
    ['a b', /visible ASCII/],
    ['a\nb', /visible ASCII/],
    ['ключ', /visible ASCII/],
    ['x'.repeat(4097), /at most 4096/],
  ],
};
const secret: Row = { ...opaque, bad: [...opaque.bad, ['enc:1:abc:def', /enc:1:/]] };
const cidrs = (asList: boolean): Row => ({
  text: '',
  value: asList ? [] : '',
  good: ['10.0.0.0/8', '10.0.0.0/8, fd00::/8', '192.0.2.1', '::1'].map((text) => [
    text,
    asList ? text.split(', ') : text,
  ]),
  bad: ['10.0.0.0/33', 'example.com', '10.0.0', '10.0.0.0/8;11.0.0.0/8', 'off'].map((bad) => [
    bad,
    /not an IP address or CIDR range: "/,
  ]),
});
const subject = (text: string): Row => ({
  text,
  good: [
    ['Hi {{email}}', 'Hi {{email}}'],
    ['{{ link }} 🎉', '{{ link }} 🎉'],
  ],
  bad: [
    [multiLine, /one line/],
    ['x'.repeat(401), /at most 400/],
    ['{{tokne}}', /\{\{tokne\}\} is not a variable/],
  ],
});
const body: Row = {
  text: '*',
  good: [
    [
      'a\r\n\tb {{link}} {{token}} {{email}} {{appUrl}} {{collection}}',
      'a\r\n\tb {{link}} {{token}} {{email}} {{appUrl}} {{collection}}',
    ],
  ],
  bad: [
    [tooLong, /at most 100000/],
    ['a\u0007', /control characters/],
    ['{{password}}', /is not a variable/],
  ],
};
const rules = (...list: object[]) => JSON.stringify(list);
const rule = { label: '/api/*', max: 5, windowMs: 1000, audience: 'all' };
const parsed = { ...rule, path: '/api/*', action: undefined };

const oauthRows = Object.fromEntries(
  oauthProviderNames.flatMap((name) => [
    [`oauth2.${name}.enabled`, flag('0')],
    [`oauth2.${name}.client_id`, opaque],
    [`oauth2.${name}.client_secret`, secret],
  ]),
) as Record<Extract<SettingKey, `oauth2.${string}.${'enabled' | 'client_id' | 'client_secret'}`>, Row>;

const table: Record<SettingKey, Row> = {
  'rate_limit.enabled': flag('1'),
  'rate_limit.rules': {
    text: rules(
      { label: '*:auth', max: 10, windowMs: 3000, audience: 'all' },
      { label: '*:create', max: 60, windowMs: 5000, audience: 'all' },
      { label: '/api/*', max: 300, windowMs: 10_000, audience: 'all' },
    ),
    good: [
      ['[]', []],
      [rules(rule), [parsed]],
      [
        rules({ label: '*', max: 1, windowMs: 1 }),
        [{ label: '*', path: '*', action: undefined, max: 1, windowMs: 1, audience: 'all' }],
      ],
      [
        rules({ ...rule, label: '/api/v1/posts/:list' }),
        [{ ...rule, label: '/api/v1/posts/:list', path: '/api/v1/posts', action: 'list' }],
      ],
      [
        rules(
          { ...rule, label: '/api/v1/posts:list', audience: 'guest' },
          { ...rule, label: '/api/v1/posts:list', audience: 'auth' },
        ),
        [
          { ...rule, label: '/api/v1/posts:list', path: '/api/v1/posts', action: 'list', audience: 'guest' },
          { ...rule, label: '/api/v1/posts:list', path: '/api/v1/posts', action: 'list', audience: 'auth' },
        ],
      ],
    ],
    bad: [
      ['nonsense', /JSON array/],
      ['{}', /JSON array/],
      ['"*"', /JSON array/],
      ['[1]', /rule 1: must be an object/],
      [rules(rule, { ...rule, label: 'api' }), /rule 2: label must be <path>\[:<action>\]/],
      ...['*:fly', '/api/**', '/a*', '/api/*/b', 'posts:list', '', ':auth', '/a b', '/a?b', '**'].map(
        (label) => [rules({ ...rule, label }), /rule 1: label must be/] as const,
      ),
      [rules({ ...rule, label: '/a' }, { ...rule, label: '/a/' }), /rule 2: \/a\/ for all is there twice/],
      [rules({ ...rule, label: 5 }), /rule 1: label must be a string/],
      ...[0, -1, 1.5, '5', null].map((max) => [rules({ ...rule, max }), /rule 1: max must be a whole number/] as const),
      [rules({ label: '*', max: 5, audience: 'all' }), /rule 1: windowMs must be a whole number/],
      [rules({ ...rule, windowMs: 86_400_001 }), /rule 1: windowMs must be a whole number/],
      [rules({ ...rule, audience: 'everyone' }), /rule 1: audience must be one of all, guest, auth/],
      [rules({ ...rule, window: 5 }), /rule 1: has an unknown window/],
      [rules(rule, rule), /rule 2: .* twice/],
      [rules(...Array.from({ length: 501 }, (_, index) => ({ ...rule, label: `/${index}` }))), /at most 500/],
    ],
  },

  'smtp.enabled': flag('0'),
  'smtp.host': {
    text: '',
    good: ['smtp.example.com', 'localhost', '127.0.0.1', '::1', 'mail_relay', 'smtp.example.com.'].map((host) => [
      host,
      host,
    ]),
    bad: ['smtp://example.com', 'a b', 'example.com:587', '-a.com', 'a..b', `${'a'.repeat(64)}.com`, 'x\r\n'].map(
      (bad) => [bad, /host name or an IP/],
    ),
  },
  'smtp.port': whole('587', 1, 65_535),
  'smtp.secure': flag('0'),
  'smtp.user': {
    text: '',
    good: [
      ['ada@example.com', 'ada@example.com'],
      ['ä b', 'ä b'],
    ],
    bad: [[multiLine, /one line/]],
  },
  'smtp.pass': {
    text: '',
    good: [['pass word ✓', 'pass word ✓']],
    bad: [
      ['a\nb', /one line/],
      ['enc:1:a:b', /enc:1:/],
    ],
  },
  'smtp.from': {
    text: '',
    good: [
      'ada@example.com',
      'Ada Lovelace <ada@example.com>',
      '"Lovelace, Ada" <ada@example.com>',
      'Zoë <zoe@localhost>',
      '<a@b.c>',
    ].map((from) => [from, from]),
    bad: [
      ...['ada', 'Ada <ada>', 'a@b.c, d@e.f', 'Ada <a@b.c> <d@e.f>', '@b.c', 'a b@c.d'].map(
        (bad) => [bad, /one address/] as const,
      ),
      ['Ada <a@b.c>\r\nBcc: eve@example.com', /one line/],
    ],
  },

  'app.url': url,
  'email.verify.subject': subject('Verify your email'),
  'email.verify.body': { ...body, bad: [...body.bad, ['{{code}}', /is not a variable/]] },
  'email.reset.subject': subject('Reset your password'),
  'email.reset.body': { ...body, bad: [...body.bad, ['{{code}}', /is not a variable/]] },
  'email.otp.subject': { ...subject('Your sign-in code'), good: [['{{code}}', '{{code}}']] },
  'email.otp.body': { ...body, good: [['{{code}}', '{{code}}']] },
  'email.change.subject': subject('Confirm your new address'),
  'email.change.body': { ...body, bad: [...body.bad, ['{{newEmail}}', /is not a variable/]] },
  'email.change_notice.subject': { ...subject('Your address was changed'), good: [['{{newEmail}}', '{{newEmail}}']] },
  'email.change_notice.body': {
    ...body,
    good: [['{{email}} {{newEmail}}', '{{email}} {{newEmail}}']],
    bad: [...body.bad, ['{{token}}', /is not a variable/], ['{{link}}', /is not a variable/]],
  },

  'auth.otp.enabled': flag('0'),
  'auth.mfa.enabled': flag('1'),
  'auth.anonymous.enabled': flag('0'),
  'auth.impersonation.enabled': flag('1'),

  'cors.origins': {
    text: '',
    value: [],
    good: [
      ['*', ['*']],
      ['https://App.Example.com', ['https://app.example.com']],
      ['https://a.example:443, http://localhost:5173,', ['https://a.example', 'http://localhost:5173']],
      ['http://[::1]:3000', ['http://[::1]:3000']],
      ['capacitor://localhost', ['capacitor://localhost']],
    ],
    bad: [
      'example.com',
      'https://a.example/',
      'https://a.example/path',
      'https://*.example.com',
      'null',
      'https://u:p@a.example',
      'https://a b',
      'https://a.example https://b.example',
      'http://a:99999',
      '**',
    ].map((bad) => [bad, /".+" is not an origin/]),
  },
  'cors.methods': {
    text: 'GET,POST,PUT,PATCH,DELETE,OPTIONS',
    value: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    good: [['get, Head', ['GET', 'HEAD']]],
    bad: [
      ['GET,FETCH', /"FETCH" is not one of the methods/],
      ['GET POST', /"GET POST"/],
      ['CONNECT', /CONNECT/],
    ],
  },
  'cors.headers': {
    text: 'Authorization,Content-Type,If-Match,X-Service-Idempotency-Key',
    value: ['Authorization', 'Content-Type', 'If-Match', 'X-Service-Idempotency-Key'],
    good: [
      ['X-One, x-two', ['X-One', 'x-two']],
      ['*', ['*']],
    ],
    bad: [
      ['X One', /"X One" is not a header name/],
      ['X-A\r\nSet-Cookie: a=b', /not a header name/],
      ['X:Y', /not a header name/],
    ],
  },
  'cors.credentials': flag('0'),
  'cors.max_age': whole('600', 0, 31_536_000),

  'password.min_length': floored('12', 8, 256),
  'password.require_upper': flag('0'),
  'password.require_lower': flag('0'),
  'password.require_digit': flag('0'),
  'password.require_symbol': flag('0'),
  'password.hibp_check': flag('0'),

  'auth.lockout.max_attempts': whole('0', 0, 100_000),
  'auth.lockout.duration_seconds': floored('900', 60, 31_536_000),

  'security.trusted_proxies': cidrs(true),

  'metrics.enabled': flag('0'),
  'metrics.token': secret,

  'theme.accent': colour('#3b82f6'),
  'theme.accent_hover': colour('#4a8ef7'),
  'theme.accent_light': colour('#60a5fa'),
  'theme.bg_app': colour('#0e0f12'),
  'theme.bg_sidebar': colour('#131418'),
  'theme.bg_panel': colour('#181a1f'),
  'theme.text_primary': colour('#e6e8ed'),
  'theme.text_secondary': colour('#9aa0ac'),
  'theme.success': colour('#22c55e'),
  'theme.warning': colour('#f59e0b'),
  'theme.danger': colour('#ef4444'),

  'update_check.enabled': flag('1'),
  'update_check.latest_version': {
    text: '',
    good: [['v1.2.3', 'v1.2.3']],
    bad: [
      ['a\nb', /one line/],
      ['x'.repeat(101), /at most 100/],
    ],
  },
  'update_check.checked_at': {
    text: '',
    value: undefined,
    good: [['1700000000', 1_700_000_000]],
    bad: ['yesterday', '-1', '1.5'].map((bad) => [bad, /whole number/]),
  },
  'update_check.error': {
    text: '',
    good: [['connect ECONNREFUSED', 'connect ECONNREFUSED']],
    bad: [['a\nb', /one line/]],
  },

  'hooks.http.deny': {
    ...cidrs(false),
    text: DEFAULT_DENY,
    value: DEFAULT_DENY,
    good: [
      ['off', 'off'],
      ['10.0.0.0/8,::1', '10.0.0.0/8,::1'],
    ],
    bad: ['10.0.0.0/33', 'none', 'off,10.0.0.0/8'].map((bad) => [bad, /not an IP address or CIDR range: "/]),
  },
  'hooks.http.allow': cidrs(false),

  ...oauthRows,
  'oauth2.gitlab.endpoint': url,
  'oauth2.microsoft.tenant': {
    text: 'common',
    good: [['contoso.onmicrosoft.com', 'contoso.onmicrosoft.com']],
    bad: ['a/b', '..', ''.padEnd(300, 'x')].map((bad) => [bad, /tenant/]),
  },
  'oauth2.apple.team_id': {
    text: '',
    good: [['ABCDE12345', 'ABCDE12345']],
    bad: ['ABCDE1234', 'ABCDE123456', 'ABCDE-1234'].map((bad) => [bad, /10 letters and digits/]),
  },
  'oauth2.apple.key_id': {
    text: '',
    good: [['KEY1234567', 'KEY1234567']],
    bad: [
      ['a b', /letters and digits/],
      ['x'.repeat(65), /letters/],
    ],
  },
  'oauth2.apple.private_key': {
    text: '',
    good: [
      [pem, pem],
      [`${pem}\n`, pem],
      [pem.replaceAll('\n', '\\n'), pem],
      [pem.replaceAll('\n', '\r\n'), pem],
    ],
    bad: [
      ...[
        'abc',
        pem.replace('END', 'STOP'),
        pem.replaceAll('PRIVATE', 'PUBLIC'),
        pem.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'),
        pem.replace('MIG', 'M!G'),
      ].map((bad) => [bad, /private key in PEM form/] as const),
      ['enc:1:a:b', /enc:1:/],
    ],
  },
  'oauth2.oidc.authorization_url': url,
  'oauth2.oidc.token_url': url,
  'oauth2.oidc.userinfo_url': url,
  'oauth2.oidc.scopes': {
    text: 'openid profile email',
    good: [
      ['openid', 'openid'],
      ['openid https://a.example/scope.read', 'openid https://a.example/scope.read'],
    ],
    bad: [
      ['openid,"email"', /separated by spaces/],
      [' openid', /separated by spaces/],
      ['a\nb', /separated/],
    ],
  },
  'oauth2.oidc.display_name': {
    text: '',
    good: [['Zürich SSO', 'Zürich SSO']],
    bad: [
      ['a\nb', /one line/],
      ['x'.repeat(101), /at most 100/],
    ],
  },

  'notifications.providers.onesignal.enabled': flag('0'),
  'notifications.providers.onesignal.app_id': {
    text: '',
    good: [['0f8fad5b-d9cb-469f-a165-70867728950e', '0f8fad5b-d9cb-469f-a165-70867728950e']],
    bad: ['0f8fad5b', '0f8fad5bd9cb469fa16570867728950e', 'zf8fad5b-d9cb-469f-a165-70867728950e'].map((bad) => [
      bad,
      /UUID/,
    ]),
  },
  'notifications.providers.onesignal.api_key': secret,
  'notifications.providers.fcm.enabled': flag('0'),
  'notifications.providers.fcm.project_id': {
    text: '',
    good: [
      ['my-project', 'my-project'],
      ['example.com:my-project', 'example.com:my-project'],
    ],
    bad: ['My Project', 'a/b', '-a'].map((bad) => [bad, /project id/]),
  },
  'notifications.providers.fcm.service_account': {
    text: '',
    value: undefined,
    good: [
      [JSON.stringify(account), { ...account, private_key: rsaPem }],
      // As it comes out of a variable of the environment, or of openssl.
      [
        JSON.stringify({ ...account, private_key: rsaPem.replaceAll('\n', '\\n') }),
        { ...account, private_key: rsaPem },
      ],
      [JSON.stringify({ ...account, private_key: rsaPkcs1Pem }), { ...account, private_key: rsaPkcs1Pem }],
      [
        JSON.stringify(
          { ...account, token_uri: 'http://127.0.0.1:1/token', universe_domain: 'googleapis.com' },
          null,
          2,
        ),
        { ...account, private_key: rsaPem, token_uri: 'http://127.0.0.1:1/token' },
      ],
    ],
    bad: [
      ['nonsense', /JSON document/],
      ['[]', /JSON document/],
      ['"text"', /JSON document/],
      [JSON.stringify({ ...account, type: 'authorized_user' }), /type must be "service_account"/],
      [JSON.stringify({ ...account, private_key: undefined }), /private_key must be a string/],
      [JSON.stringify({ ...account, private_key: 'abc' }), /private_key must be a private key/],
      [JSON.stringify({ ...account, private_key: ecPem }), /private_key must be an RSA key/],
      [JSON.stringify({ ...account, private_key: rsaPem.replace(/\n.*\n/, '\n') }), /private_key must be an RSA key/],
      [JSON.stringify({ ...account, client_email: undefined }), /client_email must be a string/],
      [JSON.stringify({ ...account, project_id: '' }), /project_id must not be empty/],
      [JSON.stringify({ ...account, token_uri: 'file:///etc/passwd' }), /token_uri must be a URL/],
    ],
  },

  'auth.user.window_seconds': window(7 * day),
  'auth.admin.window_seconds': window(7 * day),
  'auth.anonymous.window_seconds': window(30 * day),
  'auth.impersonate.window_seconds': window(3600),
  'auth.refresh.window_seconds': window(7 * day),
  'auth.file.window_seconds': window(3600),

  'webhooks.pause_after_seconds': whole('60', 0, 31_536_000),
  'webhooks.pause_seconds': whole('60', 1, 86_400),
  'webhooks.disable_after_seconds': whole('432000', 0, 31_536_000),
  'webhooks.retention_days': whole('30', 1, 3650),
  'audit.retention_days': whole('365', 1, 3650),
  'logs.retention_days': whole('7', 1, 3650),
};

test('the table names every setting, and nothing else', () => {
  assert.deepEqual(Object.keys(table).toSorted(), [...settingKeys].toSorted());
});

for (const key of settingKeys) {
  const { text, good, bad } = table[key];
  const { schema, defaultText, defaultValue, about } = settingOf(key);

  test(key, async (t) => {
    await t.test('has a description of one line and the documented default', () => {
      assert.match(about, /^[^\n]+\.$/);
      if (text !== '*') assert.equal(defaultText, text);
      if ('value' in table[key]) assert.deepEqual(defaultValue, table[key].value);
      else assert.deepEqual(defaultValue, text === '' ? '' : schema.parse(defaultText));
    });
    await t.test('takes what it should', () => {
      for (const [given, value] of good) {
        assert.ok(settingsPatch.safeParse({ [key]: given }).success, given);
        assert.deepEqual(schema.parse(given), value, given);
      }
      assert.ok(settingsPatch.safeParse({ [key]: '' }).success);
    });
    await t.test('refuses what it should', () => {
      for (const given of [5, true, null, ['a'], {}]) assert.match(complaint(key, given), /^must be a string$/);
      assert.match(complaint(key, 'a\0b'), /./);
      for (const [given, message] of bad) assert.match(complaint(key, given), message, given);
    });
  });
}

function complaint(key: string, value: unknown): string {
  const result = settingsPatch.safeParse({ [key]: value });
  assert.ok(!result.success, `${key} takes ${JSON.stringify(value)}`);
  assert.deepEqual(result.error.issues[0]?.path, [key]);
  return result.error.issues[0]?.message ?? '';
}

test('secrets are the keys with the endings of interface §2.7', () => {
  const fixed = [
    'smtp.pass',
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

test('every group has a title, readers, and keys of no other group', () => {
  const keys = settingGroups.flatMap(({ settings }) => Object.keys(settings));
  assert.equal(new Set(keys).size, keys.length);
  for (const { title, readBy } of settingGroups) assert.ok(title !== '' && readBy.length > 0, title);
});

test('a patch names each key that is wrong, unknown ones too', () => {
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
