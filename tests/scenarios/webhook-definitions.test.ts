import { webhooksPath as path } from '../harness/clients/webhook.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';

const webhookJson = (members: object = {}) => ({
  id: is.uuid,
  name: 'sink',
  type: 'http',
  url: 'https://receiver.example/hook',
  events: ['*'],
  secret: is.matching(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/),
  headers: {},
  enabled: true,
  retry_max: 3,
  retry_backoff: 'exponential',
  retry_delay_ms: 1000,
  timeout_ms: 30_000,
  rate: null,
  ordering: 'none',
  batch: null,
  on_failure: 'block',
  filter: null,
  payload_days: null,
  owner: null,
  created_at: is.now,
  updated_at: is.now,
  ...members,
});

const definition = { name: 'sink', url: 'https://receiver.example/hook', events: ['*'] };

onEachTopology('an admin defines webhooks', async (t, target) => {
  const admin = await target.admin();
  const first = await admin.post(path, definition);
  const create = (body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
    as: 'admin',
    request: `POST ${path}`,
    body,
  });
  const given = {
    name: 'all set',
    url: 'http://receiver.example:8080/a?b=c',
    events: ['posts.create', 'posts.*'],
    headers: { Authorization: 'Bearer of-the-receiver' },
    enabled: false,
    retry_max: 0,
    retry_backoff: 'fixed',
    retry_delay_ms: 100,
    timeout_ms: 60_000,
    rate: 0.5,
    ordering: 'record',
    on_failure: 'skip',
    filter: 'event = "posts.create"',
    payload_days: 7,
  };
  const wrong: Record<string, readonly [field: string, value: unknown]> = {
    'no URL': ['url', undefined],
    'an invalid URL': ['url', 'receiver'],
    'a URL of another protocol': ['url', 'ftp://receiver.example'],
    'a URL that is too long when it is called': ['url', `https://receiver.example/${' '.repeat(700)}x`],
    'a URL with credentials': ['url', 'https://ada:secret@receiver.example'],
    'no events': ['events', undefined],
    'events that are not a list': ['events', '*'],
    'an invalid pattern': ['events', ['posts.*.x*']],
    'a retry_max above 50': ['retry_max', 51],
    'a negative retry_max': ['retry_max', -1],
    'an unknown backoff': ['retry_backoff', 'random'],
    'a delay below 100 ms': ['retry_delay_ms', 99],
    'a timeout above 60 s': ['timeout_ms', 60_001],
    'an unknown ordering': ['ordering', 'key'],
    'no ordering': ['ordering', null],
    'an unknown on_failure': ['on_failure', 'stop'],
    'a rate of 0': ['rate', 0],
    'a rate above 1,000': ['rate', 1000.5],
    'a rate as text': ['rate', '5'],
    'negative payload_days': ['payload_days', -1],
    'payload_days above 30': ['payload_days', 31],
    'payload_days that are not whole': ['payload_days', 1.5],
    'a timeout that is not a number': ['timeout_ms', 'long'],
    'an unknown key': ['colour', 'red'],
  };
  await runScenarios(t, target, [
    {
      name: 'a webhook with the default settings',
      ...create(definition),
      expect: { status: 201, json: { data: webhookJson() } },
      spec: 'webhooks §1.2',
    },
    {
      name: 'a webhook with every member set',
      ...create(given),
      expect: { status: 201, json: { data: webhookJson(given), warnings: [is.matching(/no collection posts/)] } },
      spec: 'webhooks §1.2',
    },
    {
      name: 'the list of webhooks',
      as: 'admin',
      request: `GET ${path}`,
      expect: { status: 200, json: is.containing({ data: is.listWith(webhookJson(given)) }) },
      spec: 'webhooks §1.1',
    },
    {
      name: 'one webhook',
      as: 'admin',
      request: `GET ${path}/${first.id}`,
      expect: { status: 200, json: { data: webhookJson({ id: first.id, secret: first.secret }) } },
      spec: 'webhooks §1.1',
    },
    {
      name: 'an unknown webhook',
      as: 'admin',
      request: `GET ${path}/${unknownId}`,
      expect: refused.notFound,
      spec: 'webhooks §1.1',
    },
    ...Object.entries({
      '  https://receiver.example/hook \n': 'https://receiver.example/hook',
      'HTTPS:\\\\Receiver.Example\\a b?q="#part': 'https://receiver.example/a%20b?q=%22',
      'https://receiver.example': 'https://receiver.example/',
      'https://münchen.example:443/': 'https://xn--mnchen-3ya.example/',
      'http://0x7f.1/': 'http://127.0.0.1/',
    }).map(
      ([url, called]): Scenario => ({
        name: `a URL is stored as it is called: ${JSON.stringify(url)}`,
        ...create({ ...definition, url }),
        expect: { status: 201, json: { data: webhookJson({ url: called }) } },
        spec: 'webhooks §1.2',
      }),
    ),
    {
      name: 'a header of any name',
      as: 'admin',
      request: `POST ${path}`,
      rawBody: JSON.stringify(definition).replace('{', '{"headers":{"__proto__":"a","constructor":"b"},'),
      headers: { 'Content-Type': 'application/json' },
      expect: {
        status: 201,
        json: { data: webhookJson({ headers: JSON.parse('{"__proto__":"a","constructor":"b"}') }) },
      },
      spec: 'webhooks §1.4',
    },
    {
      name: 'a header of any name with a wrong value',
      as: 'admin',
      request: `POST ${path}`,
      rawBody: JSON.stringify(definition).replace('{', '{"headers":{"__proto__":1},'),
      headers: { 'Content-Type': 'application/json' },
      expect: refused.naming('__proto__'),
      spec: 'webhooks §1.4',
    },
    ...Object.entries(wrong).map(
      ([name, [field, value]]): Scenario => ({
        name,
        ...create({ ...definition, [field]: value }),
        expect: refused.naming(field),
        spec: 'webhooks §1.2',
      }),
    ),
    ...['Host', 'content-length', 'Content-Type', 'Connection', 'X-Service-Signature', 'webhook-signature'].map(
      (header): Scenario => ({
        name: `the reserved header ${header}`,
        ...create({ ...definition, headers: { [header]: 'x' } }),
        expect: refused.naming(header),
        spec: 'webhooks §1.4',
      }),
    ),
    {
      name: 'a header value with a line break',
      ...create({ ...definition, headers: { 'X-Key': 'a\r\nHost: b' } }),
      expect: refused.naming('X-Key'),
      spec: 'webhooks §1.4',
    },
  ]);
});
