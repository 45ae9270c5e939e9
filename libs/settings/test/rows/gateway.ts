import type { SettingKey } from '../../src/index.ts';
import { cidrs, flag, type Row, secret, whole } from '../row.ts';

const rules = (...list: object[]) => JSON.stringify(list);

const rule = { label: '/api/*', max: 5, windowMs: 1000, audience: 'all' };

const parsed = { ...rule, path: '/api/*', action: undefined };

export const gatewayRows = {
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
      [rules({ ...rule, label: '#ci' }), [{ ...rule, label: '#ci', keyLabel: 'ci', path: '*', action: undefined }]],
      [
        rules({ ...rule, label: '#ci/api/*:create' }),
        [{ ...rule, label: '#ci/api/*:create', keyLabel: 'ci', path: '/api/*', action: 'create' }],
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
      [rules({ ...rule, label: '/a' }, { ...rule, label: '/a/' }), /rule 2: \/a\/ for all appears twice/],
      [rules({ ...rule, label: 5 }), /rule 1: label must be a string/],
      ...[0, -1, 1.5, '5', null].map((max) => [rules({ ...rule, max }), /rule 1: max must be a whole number/] as const),
      [rules({ label: '*', max: 5, audience: 'all' }), /rule 1: windowMs must be a whole number/],
      [rules({ ...rule, windowMs: 86_400_001 }), /rule 1: windowMs must be a whole number/],
      [rules({ ...rule, audience: 'everyone' }), /rule 1: audience must be one of all, guest, auth/],
      [rules({ ...rule, window: 5 }), /rule 1: has an unknown window/],
      [rules({ ...rule, label: '#ci' }, { ...rule, label: '#ci*' }), /rule 2: #ci\* for all appears twice/],
      ...['#', '#a b', '#ci:fly', '#ci#cd'].map(
        (label) => [rules({ ...rule, label }), /rule 1: label must be/] as const,
      ),
      [rules(rule, rule), /rule 2: .* twice/],
      [rules(...Array.from({ length: 501 }, (_, index) => ({ ...rule, label: `/${index}` }))), /at most 500/],
    ],
  },
  'http.compression': flag('1'),
  'cors.origins': {
    text: '',
    value: [],
    good: [
      ['*', ['*']],
      ['https://App.Example.com', ['https://app.example.com']],
      ['https://a.example:443, http://localhost:5173,', ['https://a.example', 'http://localhost:5173']],
      ['http://[::1]:3000', ['http://[::1]:3000']],
      ['capacitor://localhost', ['capacitor://localhost']],
      ['https://*.Example.com,http://localhost:*', ['https://*.example.com', 'http://localhost:*']],
    ],
    bad: [
      'example.com',
      'https://a.example/',
      'https://a.example/path',
      'https://*/',
      'null',
      'https://u:p@a.example',
      'https://a b',
      'https://a.example https://b.example',
      'http://a:99999',
      '**',
    ].map((bad) => [bad, /".+" (is not an origin|(may|must) have)/]),
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
  'openapi.audience': {
    text: 'all',
    good: ['all', 'users', 'admins'].map((text) => [text, text]),
    bad: ['guests', 'user', 'ALL', '1'].map((text) => [text, /must be one of all, users, admins/]),
  },
  'pocketbase.enabled': flag('0'),
  'pocketbase.hosts': {
    text: '',
    value: [],
    good: [
      ['api.example.com', ['api.example.com']],
      ['Api.example.com:443, localhost:8081', ['api.example.com', 'localhost:8081']],
    ],
    bad: [
      ['https://api.example.com', /must be a host such as/],
      [',', /must name a host/],
      [Array(21).fill('a.example.com').join(), /must have at most 20 hosts/],
    ],
  },
  'pocketbase.replay_s': whole('30', 0, 300),
  'security.trusted_proxies': cidrs(true),
  'metrics.enabled': flag('0'),
  'metrics.token': secret,
} satisfies Partial<Record<SettingKey, Row>>;
