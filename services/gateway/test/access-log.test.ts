import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fixedSettings } from '@recordbus/settings/testing';
import { eventually } from '@recordbus/testing';
import type { SessionPrincipal } from '@recordbus/tokens';
import { pino } from 'pino';
import { declare, testService } from './test-service.ts';
import { createTestGateway, inProcess, type RunningGateway, serve, signer } from './topologies.ts';

type Line = Record<string, unknown> & { readonly msg: string; readonly level: number };

describe('the access log', () => {
  const lines: Line[] = [];
  const log = pino({ level: 'info', redact: ['token'] }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const records = testService(
    'records',
    log,
    [declare('GET', '/api/v1/:collection'), declare('GET', '/api/v1/a/slow')],
    {
      '/api/v1/a/slow': (_, response) => {
        response.write('begun');
      },
    },
  );

  async function withGateway(
    work: (gateway: RunningGateway) => Promise<void>,
    texts: Record<string, string> = { 'logs.access': 'all' },
  ): Promise<void> {
    const gateway = await serve(
      createTestGateway({ log, upstreams: [inProcess(records)], settings: fixedSettings(texts) }),
    );
    lines.length = 0;
    await work(gateway).finally(() => gateway.stop());
  }

  const loggedLine = async (): Promise<Line> => {
    await eventually(() => lines.length > 0);
    const [line, ...others] = lines.splice(0);
    assert.ok(line && others.length === 0);
    return line;
  };

  const user: SessionPrincipal = {
    type: 'user',
    id: 'u1',
    email: 'user@example.com',
    collection: 'users',
    anonymous: false,
    impersonatedBy: 'a1',
  };

  test('has one line for each answer, without the query', () =>
    withGateway(async ({ url }) => {
      const token = await signer.signSession({ principal: user, tokenVersion: 0, windowSec: 60 });
      const response = await fetch(`${url}/api/v1/posts?filter=secret`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      await response.text();
      const { time, pid, hostname, duration_ms, upstream_ms, bytes, trace_id, ...line } = await loggedLine();
      assert.deepEqual(line, {
        level: 30,
        msg: 'request',
        method: 'GET',
        path: '/api/v1/posts',
        route: '/api/v1/:collection',
        upstream: 'records',
        status: 200,
        rate_rule: '/api/*',
        ip: '127.0.0.1',
        principal_type: 'user',
        principal_id: 'u1',
        auth_impersonated_by: 'a1',
        request_id: response.headers.get('x-request-id'),
      });
      assert.ok(Number(duration_ms) >= Number(upstream_ms) && Number(upstream_ms) > 0 && Number(bytes) > 100);
      assert.match(String(trace_id), /^[0-9a-f]{32}$/);
    }));

  test("counts each answer's bytes on a kept-alive connection", () =>
    withGateway(async ({ url }) => {
      const sizes: unknown[] = [];
      for (let request = 0; request < 2; request += 1) {
        await (await fetch(`${url}/nowhere`)).text();
        sizes.push((await loggedLine()).bytes);
      }
      assert.equal(sizes[0], sizes[1]);
    }));

  test('has refusals at level info, not at level error', () =>
    withGateway(async ({ url }) => {
      const refused: [string, number][] = [
        ['/nowhere', 404],
        ['/api/v1/%zz', 400],
      ];
      for (const [path, status] of refused) {
        assert.equal((await fetch(url + path)).status, status);
        const line = await loggedLine();
        assert.deepEqual([line.level, line.status, line.path, line.route], [30, status, path, undefined]);
      }
    }));

  test('marks a request whose client disconnected', () =>
    withGateway(async ({ url }) => {
      const controller = new AbortController();
      await fetch(`${url}/api/v1/a/slow`, { signal: controller.signal });
      controller.abort();
      assert.equal((await loggedLine()).aborted, true);
    }));

  test('omits health probes', () =>
    withGateway(async ({ url }) => {
      for (const path of ['/healthz', '/readyz', '/api/v1/health']) await (await fetch(url + path)).text();
      assert.equal((await loggedLine()).path, '/api/v1/health');
    }));

  test('has only refusals and slow requests by default, and at most 60 lines a minute in a flood', () =>
    withGateway(async ({ url }) => {
      for (let request = 0; request < 3; request += 1) await (await fetch(`${url}/api/v1/posts`)).text();
      for (let request = 0; request < 100; request += 1) await (await fetch(`${url}/api/v1/%zz`)).text();
      await eventually(() => lines.length >= 60);
      await (await fetch(`${url}/api/v1/%zz`)).text();
      assert.deepEqual(new Set(lines.map(({ status }) => status)), new Set([400]));
      assert.equal(lines.length, 60);
    }, {}));

  for (const mode of ['notable', 'all'])
    test(`has one line a second for a client's refusals, with their count (${mode})`, () =>
      withGateway(
        async ({ url }) => {
          const counted = () => lines.reduce((sum, { count }) => sum + Number(count), 0);
          const begunAtMs = Date.now();
          await Promise.all(
            Array.from({ length: 200 }, async (_, number) => (await fetch(`${url}/nowhere/${number}`)).text()),
          );
          await eventually(() => counted() === 200);
          const seconds = Math.floor(Date.now() / 1000) - Math.floor(begunAtMs / 1000) + 1;
          assert.ok(lines.length <= seconds, `${lines.length} lines in ${seconds} s`);
          assert.equal(lines[0]?.status, 404);
        },
        { 'logs.access': mode },
      ));

  test("cuts a client's long texts", () =>
    withGateway(async ({ url }) => {
      await (await fetch(`${url}/api/v1/${'x'.repeat(5000)}`)).text();
      assert.equal(String((await loggedLine()).path).length, 512);
    }));

  test('has a slow request during a flood of refusals', () =>
    withGateway(
      async ({ url }) => {
        for (let request = 0; request < 70; request += 1) await (await fetch(`${url}/api/v1/%zz`)).text();
        const controller = new AbortController();
        await fetch(`${url}/api/v1/a/slow`, { signal: controller.signal });
        const begunAtMs = performance.now();
        await eventually(() => performance.now() - begunAtMs > 100);
        controller.abort();
        await eventually(() => lines.some(({ path }) => path === '/api/v1/a/slow'));
      },
      { 'logs.slow_ms': '100' },
    ));

  test('has all requests by an admin who impersonates a user', () =>
    withGateway(async ({ url }) => {
      const token = await signer.signSession({ principal: user, tokenVersion: 0, windowSec: 60 });
      await (await fetch(`${url}/api/v1/posts`, { headers: { Authorization: `Bearer ${token}` } })).text();
      assert.equal((await loggedLine()).auth_impersonated_by, 'a1');
    }, {}));

  test('has no lines when it is disabled', () =>
    withGateway(
      async ({ url }) => {
        await (await fetch(`${url}/nowhere`)).text();
        await (await fetch(`${url}/nowhere`)).text();
        assert.equal(lines.length, 0);
      },
      { 'logs.access': 'off' },
    ));
});
