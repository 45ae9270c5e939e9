import assert from 'node:assert/strict';
import { multipart } from '../harness/clients/multipart.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { userCollection } from '../harness/stacks/stack.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const dots = `a@${'.'.repeat(250_000)}@`;
const digits = `${'1'.repeat(120_000)}x`;
const marks = '\u0315\u0300'.repeat(100_000);
const password = 'a long and winding password';

const withOption = (pattern: string) => ({
  name: 'drafts',
  type: 'base',
  fields: [{ name: 'title', type: 'text', options: { pattern } }],
});

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));

onEachTopology('texts that are costly to check are refused', async (t, target) => {
  const admin = await target.admin();
  await target.user();
  await admin.post('/api/v1/collections', {
    name: 'letters',
    type: 'base',
    fields: [
      { name: 'sender', type: 'email' },
      { name: 'weight', type: 'number' },
      { name: 'place', type: 'vector', options: { dimensions: 2 } },
      { name: 'scan', type: 'file' },
      { name: 'code', type: 'text', options: { pattern: '(?:a|b)*a(?:a|b){400}$' } },
    ],
    create_rule: null,
  });
  const auth = `/api/v1/auth/${userCollection}`;
  const row = (name: string, request: string, rest: Pick<Scenario, 'expect'> & Partial<Scenario>): Scenario => ({
    name,
    request,
    spec: 'cost §4',
    ...rest,
  });
  await runScenarios(t, target, [
    row('an address of dots for the first admin', 'POST /api/v1/admin/setup', {
      body: { token: 'x', email: dots, password },
      expect: refused.invalid('email'),
    }),
    row('an address of dots for a new user', `POST ${auth}/register`, {
      body: { email: dots, password },
      expect: refused.invalid('email'),
    }),
    row('an address of dots in a field', 'POST /api/v1/letters', {
      body: { sender: dots },
      expect: refused.invalid('sender'),
    }),
    row('an address with combining marks at sign-in', `POST ${auth}/login`, {
      body: { email: `a${marks}@example.com`, password },
      expect: refused.invalidCredentials,
    }),
    row('digits in a query', `GET /api/v1/letters?nearVectorField=place&nearVector=[1,0]&nearMinScore=${digits}`, {
      expect: refused.malformedWith({ nearMinScore: is.text }),
    }),
    row('digits in a form', 'POST /api/v1/letters', {
      ...multipart({ name: 'weight', content: digits }),
      expect: refused.invalid('weight'),
    }),
    row('combining marks in the name of a file', 'POST /api/v1/letters', {
      ...multipart({ name: 'scan', filename: `a${marks.slice(0, 20_000)}.png`, content: 'x' }),
      expect: {
        status: 201,
        json: is.containing({ data: is.containing({ scan: is.matching(/^\p{L}\p{M}{1,149}_[0-9a-z]{10}\.png$/u) }) }),
      },
      events: ['letters.create'],
    }),
    row('a text too long for a large pattern', 'POST /api/v1/letters', {
      body: { code: 'ab'.repeat(100_000) },
      expect: refused.invalid('code'),
    }),
    row('a pattern of 900 kB', 'POST /api/v1/collections', {
      as: 'admin',
      body: withOption('a|'.repeat(450_000)),
      expect: refused.invalid('fields.title.options.pattern'),
    }),
    row('a pattern of many instructions', 'POST /api/v1/collections', {
      as: 'admin',
      body: withOption('[ab]{600}[ab]{600}'),
      expect: refused.invalid('fields.title.options.pattern'),
    }),
    row('15,000 members', 'POST /api/v1/letters', { body: members(15_000), expect: refused.invalid('body') }),
    row('60,000 members', 'POST /api/v1/letters', { body: members(60_000), expect: refused.malformed }),
  ]);
  await t.test(
    'a body that nests 50,000 levels deep is refused and does not exhaust the stack [http §2.1]',
    async () => {
      const events = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
      const rawBody = `{"name": "deep", "url": "http://a.example", "events": ${events}}`;
      const headers = { 'Content-Type': 'application/json' };
      const { status } = await admin.send('POST', '/api/v1/admin/webhooks', { rawBody, headers });
      assert.equal(status, 400);
    },
  );
});

onEachTopology('invalid values are refused, not corrected', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'sender', type: 'email' }];
  await admin.post('/api/v1/collections', { name: 'postcards', type: 'base', fields });
  const create = (sender: string, expect: Scenario['expect']): Scenario => ({
    name: JSON.stringify(sender),
    spec: 'fields §3.4',
    as: 'admin',
    request: 'POST /api/v1/postcards',
    body: { sender },
    expect,
  });
  const list = (query: string, parameter: string): Scenario => ({
    name: query,
    spec: 'http §2.5',
    as: 'admin',
    request: `GET /api/v1/postcards?${query}`,
    expect: refused.malformedWith({ [parameter]: is.text }),
  });
  await runScenarios(t, target, [
    create('a@b.de\n', refused.invalid('sender')),
    create(' a@b.de', refused.invalid('sender')),
    create(`${'ä'.repeat(126)}@b.de`, refused.invalid('sender')),
    list('sort=id,-anything', 'sort'),
    list('filter=anything=1', 'filter'),
    list('expand=anything', 'expand'),
    list('nearVectorField=sender', 'nearVector'),
    list('page=x', 'page'),
  ]);
});
