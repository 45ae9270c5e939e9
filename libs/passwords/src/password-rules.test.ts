import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { fixedSettings } from '@recordbus/settings/testing';
import { createPasswordRules } from './password-rules.ts';

const log = createLogger('test', 'silent');
const password = 'correct horse battery';
const digest = createHash('sha1').update(password).digest('hex').toUpperCase();

describe('password rules', () => {
  const requests: IncomingMessage[] = [];
  let answer: (response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => {
    requests.push(request);
    answer(response);
  });
  let breachServiceUrl = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    breachServiceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const rules = (settings: Record<string, string>) =>
    createPasswordRules({ settings: fixedSettings(settings), log, breachServiceUrl });
  const checking = () => rules({ 'password.hibp_check': '1' });
  const lines = (text: string) => (response: ServerResponse) => response.end(text);

  test('follow the settings', async () => {
    assert.equal(await rules({}).findProblem(password), undefined);
    assert.match((await rules({ 'password.min_length': '30' }).findProblem(password)) ?? '', /at least 30 characters/);
    assert.match((await rules({ 'password.min_length': '1' }).findProblem('1234567')) ?? '', /at least 8 characters/);
    for (const rule of ['upper', 'digit'])
      assert.ok(await rules({ [`password.require_${rule}`]: '1' }).findProblem(password), rule);
    for (const rule of ['lower', 'symbol'])
      assert.equal(await rules({ [`password.require_${rule}`]: '1' }).findProblem(password), undefined, rule);
  });

  test('name the field when a new password is refused', async () => {
    await assert.rejects(rules({}).hashNew('short'), {
      status: 422,
      details: { password: 'must have at least 12 characters' },
    });
    assert.match(await rules({}).hashNew(password), /^\$argon2id\$/);
  });

  test('call the breach check only when it is enabled and the password passes the other rules [auth §2.3]', async () => {
    requests.length = 0;
    await rules({}).findProblem(password);
    await checking().findProblem('short');
    assert.equal(requests.length, 0);
  });

  test("refuse a breached password and send its hash's first five characters [auth §2.3]", async () => {
    requests.length = 0;
    answer = lines(`0018A45C4D1DEF81644B54AB7F969B88D65:3\r\n${digest.slice(5)}:42\r\n`);
    assert.match((await checking().findProblem(password)) ?? '', /breach/);
    assert.equal(requests.length, 1);
    assert.equal(requests[0]?.url, `/range/${digest.slice(0, 5)}`);
    assert.equal(requests[0]?.headers['add-padding'], 'true');
    assert.equal(JSON.stringify([requests[0]?.url, requests[0]?.headers]).includes(digest.slice(5)), false);
  });

  test('ignore padding and other suffixes', async () => {
    answer = lines(`${digest.slice(5)}:0\r\n0018A45C4D1DEF81644B54AB7F969B88D65:3`);
    assert.equal(await checking().findProblem(password), undefined);
  });

  test('accept the password when the service fails, redirects, sends too much or is down [auth §2.3]', async () => {
    const failing: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(503).end(),
      (response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
      (response) => response.destroy(),
      (response) => {
        response.on('error', () => {});
        response.end(`${'A'.repeat(2 * 1024 * 1024)}\r\n${digest.slice(5)}:42`);
      },
    ];
    for (const fail of failing) {
      answer = fail;
      assert.equal(await checking().findProblem(password), undefined);
    }
    const unreachable = createPasswordRules({
      settings: fixedSettings({ 'password.hibp_check': '1' }),
      log,
      breachServiceUrl: 'http://127.0.0.1:1',
    });
    assert.equal(await unreachable.findProblem(password), undefined);
  });

  test('accept the password when the service hangs [auth §2.3]', async () => {
    answer = () => {};
    assert.equal(await checking().findProblem(password), undefined);
  });
});
