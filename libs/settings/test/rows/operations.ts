import { DEFAULT_DENY } from '@recordbus/egress';
import type { SettingKey } from '../../src/index.ts';
import { cidrs, flag, type Row, whole } from '../row.ts';

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

const channel = { pattern: 'room:*', publish_rule: '@request.auth.id != ""', subscribe_rule: null };

const channels = (...list: object[]) => JSON.stringify(list);

export const operationsRows = {
  'logs.access': {
    text: 'notable',
    good: ['notable', 'all', 'off'].map((mode) => [mode, mode]),
    bad: ['1', 'ALL', 'none'].map((bad) => [bad, /notable, all or off/]),
  },
  'logs.slow_ms': whole('1000', 1, 600_000),
  'backups.cron': {
    text: '',
    good: ['0 3 * * *', '*/15 0-6 * * mon-fri', '0 0 1 1 *'].map((text) => [text, text]),
    bad: ['daily', '* * * *', '* * * * * *', '61 * * * *', '0 0 31 2 *', '0'.repeat(101)].map((bad) => [
      bad,
      /cron expression|100/,
    ]),
  },
  'backups.keep': whole('7', 1, 15),
  'records.read_timeout_ms': whole('5000', 10, 60_000),
  'records.export_timeout_ms': whole('900000', 1000, 86_400_000),
  'records.max_answer_bytes': whole('33554432', 1024, 134_217_728),
  'batch.max_operations': whole('1000', 1, 10_000),
  'jobs.max_pending': whole('1000000', 1, 100_000_000),
  'jobs.max_body_bytes': whole('10737418240', 1024, 1_099_511_627_776),
  'realtime.max_connections_per_principal': whole('20', 1, 1_000_000),
  'realtime.max_connections_per_address': whole('100', 1, 1_000_000),
  'realtime.channels': {
    text: '[]',
    value: [],
    good: [
      [channels(channel), [channel]],
      [
        channels({ ...channel, publish_rule: '' }, { ...channel, pattern: '*' }),
        [
          { ...channel, publish_rule: '' },
          { ...channel, pattern: '*' },
        ],
      ],
    ],
    bad: [
      ['nonsense', /JSON array/],
      ['{}', /JSON array/],
      ['[1]', /pattern 1: must be an object/],
      [channels({ pattern: 'a', publish_rule: null }), /pattern 1: subscribe_rule must be null, "" or an expression/],
      [channels(channel, { ...channel, pattern: 'b', publish_rule: 5 }), /pattern 2: publish_rule must be null/],
      ...['', 'a\nb', '\u{7f}', 'x'.repeat(201), 5].map(
        (pattern) => [channels({ ...channel, pattern }), /pattern 1: pattern must/] as const,
      ),
      [channels({ ...channel, view_rule: null }), /pattern 1: has an unknown view_rule/],
      [channels(channel, channel), /pattern 2: room:\* appears twice/],
      [channels(...Array.from({ length: 101 }, (_, index) => ({ ...channel, pattern: `${index}` }))), /at most 100/],
    ],
  },
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
  'events.kept_for': {
    text: '',
    value: [],
    good: [
      ['crm', ['crm']],
      ['crm, search_index,Audit-2', ['crm', 'search_index', 'Audit-2']],
    ],
    bad: ['crm.1', 'a b', 'crm,*', 'x'.repeat(129), Array(51).fill('crm').join(',')].map((bad) => [
      bad,
      /durable consumer names|at most 50/,
    ]),
  },
  'files.thumbs_max_bytes': whole('1073741824', 1024 ** 2, 2 ** 50),
  'files.host': {
    text: '',
    value: undefined,
    good: [
      ['files.example.com', 'files.example.com'],
      ['Files.Example.com:443', 'files.example.com'],
      ['localhost:8081', 'localhost:8081'],
      ['127.0.0.2', '127.0.0.2'],
    ],
    bad: ['https://files.example.com', 'files.example.com/', '*.example.com', 'a b', '-a', 'a:99999', 'a.', 'a:'].map(
      (bad) => [bad, /must be a host such as/],
    ),
  },
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
  'webhooks.pause_after_seconds': whole('60', 0, 31_536_000),
  'webhooks.pause_seconds': whole('60', 1, 86_400),
  'webhooks.disable_after_seconds': whole('432000', 0, 31_536_000),
  'webhooks.mail_after_seconds': whole('3600', 0, 31_536_000),
  'webhooks.portal_frames': {
    text: '',
    value: [],
    good: [['https://App.Example.com', ['https://app.example.com']]],
    bad: [['https://a.example/path', /is not an origin/]],
  },
  'webhooks.retention_days': whole('30', 1, 3650),
  'jobs.retention_days': whole('7', 1, 3650),
  'mail.retention_days': whole('30', 1, 3650),
  'audit.retention_days': whole('365', 1, 3650),
  'logs.retention_days': whole('7', 1, 3650),
  'logs.requests_max_bytes': whole('536870912', 2 ** 20, 2 ** 40),
} satisfies Partial<Record<SettingKey, Row>>;
