import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt } from '../harness/json.ts';
import { onEachTopology, onNewStacks, type Target } from '../harness/stacks/target.ts';
import { makeKey, type TestKey } from './service-keys.ts';

onNewStacks('the walk calls every route with every right');

/** An operation in the API document with the scope that it needs; undefined if no key may call it. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly scope: string | undefined;
}

type Security = readonly Readonly<Record<string, readonly string[]>>[];

/** Reads every declared operation, except those on single collections. */
async function readOperations(target: Target): Promise<Operation[]> {
  const document = (await (await target.admin()).get('/api/v1/openapi.json')).json;
  const paths = objectAt(document, 'paths') as Record<string, Record<string, { security: Security }>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { security }]) => {
      const scopes = security.find((one) => 'key' in one)?.key;
      return { method: method.toUpperCase(), path, scope: scopes && (scopes[0] ?? 'any') };
    }),
  );
}

/** Fills a path's parameters with unknown names, and collections with an empty one. */
const fill = (path: string, isOfRecords: boolean): string =>
  path.replaceAll('{collection}', isOfRecords ? 'walked' : 'nowhere').replaceAll(/\{[^}]+\}/g, 'nothing_here');

const codeOf = (json: unknown): string => {
  const { code } = (json ?? {}) as { code?: string };
  return code ?? '';
};

onEachTopology('six keys at every route', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'walked', type: 'base', fields: [] });
  await admin.post('/api/v1/collections', { name: 'walked_not', type: 'base', fields: [] });
  await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1' });
  const operations = await readOperations(target);
  const expires_at = Math.floor(Date.now() / 1000) + 6;
  const expired = await makeKey(target, ['admin'], { expires_at });
  const revoked = await makeKey(target, ['admin']);
  const all = await makeKey(target, ['admin']);
  await admin.delete(`/api/v1/admin/keys/${revoked.id}`);
  await eventually('both keys have ended', async () => {
    const answers = await Promise.all([expired, revoked].map((key) => key.get('/healthz')));
    return answers.every(({ status }) => status === 401);
  });

  const made = new Map<string, TestKey>();
  const keyFor = async (scope: string): Promise<TestKey> => {
    const key = made.get(scope) ?? (await makeKey(target, [scope]));
    made.set(scope, key);
    return key;
  };
  const exactOf = (scope: string): string => {
    if (scope === 'any') return 'metrics:read';
    if (scope === 'records') return 'records:walked:write';
    return scope.replace('{collection}', 'walked');
  };
  const elsewhereOf = (scope: string): string | undefined =>
    scope.startsWith('records:') ? scope.replace(/:[^:]+:/, ':walked_not:') : undefined;

  await t.test('there is an operation of every kind', () => {
    assert.ok(operations.length > 100, String(operations.length));
    for (const scope of ['any', 'records', 'records:{collection}:read', 'admin', 'files', 'rules:*', undefined])
      assert.ok(
        operations.some((one) => one.scope === scope),
        String(scope),
      );
  });

  for (const { method, path, scope } of operations) {
    // Providers of mail sign their requests, or have a password of their own: no key gets there.
    if (path === '/api/v1/mail/inbound/{provider}') continue;
    const url = fill(path, scope?.startsWith('records') === true);
    const call = async (key: TestKey) => {
      const { status, json, text } = await createClient(target.url, key.key).send(method, url, {
        ...(method !== 'GET' && method !== 'DELETE' && { body: {} }),
      });
      return { status, code: codeOf(json), text };
    };
    const admits = async (key: TestKey) => {
      const { status, code, text } = await call(key);
      assert.ok(status !== 401 && code !== 'scope_missing' && status < 500, `${status} ${text}`);
      assert.ok(status !== 403, `${status} ${text}`);
    };
    const refuses = async (key: TestKey, status: number, expected: RegExp) => {
      const answer = await call(key);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.code, expected);
    };
    await t.test(`${method} ${path}: ${scope ?? 'no key'} [keys §4.1]`, async () => {
      await refuses(expired, 401, /^key_refused$/);
      await refuses(revoked, 401, /^key_refused$/);
      if (scope === undefined) {
        await refuses(all, 403, /^forbidden$/);
        return;
      }
      await admits(all);
      await admits(await keyFor(exactOf(scope)));
      if (scope === 'any') return;
      await refuses(await keyFor(scope === 'webhooks:read' ? 'files' : 'webhooks:read'), 403, /^scope_missing$/);
      const elsewhere = elsewhereOf(scope);
      if (elsewhere && elsewhere !== scope) await refuses(await keyFor(elsewhere), 403, /^scope_missing$/);
    });
  }
});
