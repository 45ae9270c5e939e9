import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { rawJson, route } from '@recordbus/http';
import { fixedSettings } from '@recordbus/settings/testing';
import { createTickets, type Session } from '@recordbus/tokens';
import { pino } from 'pino';
import { z } from 'zod';
import { useTicketsOf } from '../src/app.ts';
import type { LoggedRequest } from '../src/request-log/request-row.ts';
import { declare, testService } from './test-service.ts';
import {
  createTestGateway,
  discardingLog,
  inProcess,
  quiet,
  type RunningGateway,
  secret,
  serve,
  signer,
} from './topologies.ts';

const tickets = createTickets(secret);
const nowSec = Math.floor(Date.now() / 1000);
const principal = {
  type: 'user',
  id: 'u1',
  email: '',
  collection: 'users',
  anonymous: false,
  impersonatedBy: null,
} as const;
const session = (more: Partial<Session> = {}): Session => ({
  principal,
  tokenVersion: 1,
  sessionId: 's1',
  expiresAtSec: nowSec + 600,
  ...more,
});
const ticketOf = async (more?: Partial<Session>) => (await tickets.sign(session(more))).ticket;

describe('a ticket', () => {
  const used = new Set<string>();
  const lines: string[] = [];
  const requests: LoggedRequest[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const live = route({
    method: 'GET',
    path: '/api/v1/live',
    access: 'public',
    scope: 'any',
    action: 'subscribe',
    staysOpen: true,
    summary: 'Answers with the caller and the query',
    answers: { 200: z.unknown() },
    handler: ({ context, query }) => rawJson(200, JSON.stringify({ caller: context.principal, query })),
  });
  const service = testService('records', quiet, [live, declare('GET', '/api/v1/plain')]);
  let gateway: RunningGateway;
  before(async () => {
    gateway = await serve(
      createTestGateway({
        log,
        settings: fixedSettings({
          'logs.access': 'all',
          'rate_limit.rules': JSON.stringify([{ label: '/api/v1/live:subscribe', max: 40, windowMs: 60_000 }]),
        }),
        requestLog: { ...discardingLog, note: (request) => requests.push(request) },
        accounts: {
          findPrincipal: async ({ principal, sessionId }) =>
            sessionId === 'ended'
              ? undefined
              : sessionId === 'promoted'
                ? { type: 'guest', rejectedToken: true, isPromoted: true }
                : { ...principal, sessionId },
        },
        useTicket: async ({ id }) => !used.has(id) && Boolean(used.add(id)),
        upstreams: [inProcess(service)],
      }),
    );
  });
  after(() => gateway.stop());
  beforeEach(() => {
    lines.length = requests.length = 0;
  });

  const get = async (target: string, headers: Record<string, string> = {}) => {
    const response = await fetch(gateway.url + target, { headers });
    const body = (await response.json()) as { code?: string; caller?: object; query?: object };
    return { response, status: response.status, ...body };
  };

  test('opens one connection for its session, and is in no URL or log afterwards', async () => {
    const ticket = await ticketOf();
    const { caller, query } = await get(`/api/v1/live?a=%26&ticket=${ticket}&b=2`);
    assert.deepEqual(caller, { ...principal, sessionId: 's1' });
    assert.deepEqual(query, { a: '&', b: '2' });
    const again = await get(`/api/v1/live?%74icket=${ticket}`);
    assert.deepEqual([again.status, again.code], [401, 'ticket_refused']);
    assert.equal(again.response.headers.get('www-authenticate'), 'Bearer');
    assert.equal(lines.length, 2);
    assert.ok(![...lines, ...requests.map((request) => JSON.stringify(request))].some((text) => text.includes(ticket)));
    assert.deepEqual(
      requests.map(({ principal_id }) => principal_id),
      ['u1', 'u1'],
    );
  });

  test('is refused if it is wrong, if its session has ended, or if there are two', async () => {
    const token = await signer.signSession({ ...session(), windowSec: 60 });
    const two = `${await ticketOf()}&ticket=${await ticketOf()}`;
    const bad = [
      '',
      'x',
      token,
      await ticketOf({ sessionId: 'ended' }),
      await ticketOf({ sessionId: 'promoted' }),
      two,
    ];
    const before = used.size;
    for (const ticket of bad) {
      const { status, code } = await get(`/api/v1/live?ticket=${ticket}`);
      assert.deepEqual([status, code], [401, 'ticket_refused'], ticket);
    }
    const header = { Authorization: `Bearer ${token}` };
    const both = await get(`/api/v1/live?ticket=${await ticketOf()}`, header);
    assert.deepEqual([both.status, both.code], [400, 'malformed_request']);
    assert.equal(used.size, before, 'a refused ticket is not used up');
    assert.equal((await get('/api/v1/live', header)).status, 200);
  });

  test('replaces a token in the URL, which is refused', async () => {
    const token = await signer.signSession({ ...session(), windowSec: 60 });
    for (const query of ['token=', `token=${token}`, 'access_token=x', `auth=${token}`, `ticket=x&%74oken=${token}`]) {
      const { status, code } = await get(`/api/v1/live?${query}`);
      assert.deepEqual([status, code], [400, 'token_in_url'], query);
    }
    assert.equal((await get('/api/v1/live?v=1.2.3&e=eyes.on.you')).status, 200);
    assert.equal((await get(`/api/v1/live?subscribe=${encodeURIComponent('{"filter":"a.b.c"}')}`)).status, 200);
  });

  test('is ignored on other routes', async () => {
    const ticket = await ticketOf();
    assert.equal((await get(`/api/v1/plain?ticket=${ticket}&token=x`)).status, 200);
    assert.equal((await get(`/api/v1/live?ticket=${ticket}`)).status, 200);
  });

  test('counts under the rate limit, valid or not', async () => {
    const fromElsewhere = () => get('/api/v1/live?ticket=bad');
    let last = await fromElsewhere();
    for (let count = 0; count < 60 && last.status === 401; count += 1) last = await fromElsewhere();
    assert.equal(last.status, 429);
  });
});

test('a ticket is used up by the first gateway', { skip: skipWithoutDatabase }, async () => {
  await using started = new AsyncDisposableStack();
  const temporary = await openTemporaryDatabase();
  started.defer(() => temporary.remove());
  const ticket = await tickets.verify(await ticketOf());
  assert.ok(ticket);
  const gateways = [useTicketsOf(temporary.database), useTicketsOf(temporary.database)];
  const results = await Promise.all([...gateways, ...gateways].map((use) => use(ticket)));
  assert.deepEqual(results.sort(), [false, false, false, true]);
  const failing = useTicketsOf({
    query: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })),
  });
  await assert.rejects(failing(ticket), { status: 503 });
});
