import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { loggedErrors } from '../harness/processes/logs.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { startOidcServer } from '../harness/servers/oidc-server.ts';
import { startPushServer } from '../harness/servers/push-server.ts';
import { firstAdmin, startStack, type Topology, userCollection } from '../harness/stacks/stack.ts';
import { createFindProblem } from './check-answer.ts';
import { goThroughAccounts } from './journey/accounts.ts';
import { goThroughAdministration } from './journey/administration.ts';
import { goThroughContents } from './journey/contents.ts';
import { goThroughLive } from './journey/live.ts';
import { beginSurvey } from './journey/survey.ts';
import { goThroughOwnedWebhooks, goThroughWebhooks } from './journey/webhooks.ts';
import { type Caller, type FuzzRequest, requestTo } from './requests.ts';
import { destructive, excluded, makeContents, ofBuild } from './subject.ts';

/** Every run sends the same requests unless FUZZ_SEED is set. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
const seconds = Number(process.env.FUZZ_SECONDS ?? 8);
const topology: Topology = process.env.FUZZ_TOPOLOGY === 'processes' ? 'processes' : 'one';

/** Operations that cannot succeed here: a restore stops the stack. */
const outOfReach: ReadonlySet<string> = new Set(['postAdminBackupsByIdRestore', 'getAdminRestoresById']);

const name = `every answer matches the document, whatever is sent (FUZZ_SEED=${seed}, ${topology})`;

test(name, { timeout: (seconds + 900) * 1000 }, async (t) => {
  await using mails = await startMailServer();
  await using provider = await startOidcServer();
  await using push = await startPushServer();
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-modules-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const modulesFile = join(directory, 'modules');
  const environment = {
    SERVICE_EXTENSIONS_DIR: fileURLToPath(new URL('extension', import.meta.url)),
    SERVICE_ONESIGNAL_URL: push.url,
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '../harness/processes/note-modules.mjs')).href}`,
    TEST_MODULES_FILE: modulesFile,
    // A bundle has no single modules.
    TEST_PRODUCT: '',
  };
  await using stack = await startStack({ topology, environment });
  const loaded = () => readFileSync(modulesFile, 'utf8');
  // The process that decodes images loads its own modules.
  const large = ['undici-client.ts', 'nodemailer', 'libpg-query/wasm/libpg-query.js'];
  await eventually('the services are warm', () => {
    const text = loaded();
    const missing = large.filter((name) => !text.includes(name));
    if (missing.length > 0) throw new Error(`not loaded: ${missing}`);
    return true;
  });
  const atStart = loaded().length;
  const survey = await beginSurvey(stack.url);
  const { call } = survey;
  const first = { token: String(stack.setupToken), ...firstAdmin };
  const admin = textAt((await call('postAdminSetup', { body: first })).json, 'data.token');
  await stack.admin();
  const user = await stack.user();
  const settings = {
    ...mails.settings,
    'auth.passkeys.rp_id': 'localhost',
    'auth.passkeys.origins': 'http://localhost:*',
    ...provider.settings(),
    'hooks.http.allow': '127.0.0.0/8',
    'metrics.enabled': '1',
    'mail.inbound.postmark.secret': 'secret',
    'auth.otp.enabled': '1',
    'auth.anonymous.enabled': '1',
    'notifications.providers.onesignal.enabled': '1',
    'notifications.providers.onesignal.app_id': push.appId,
    'notifications.providers.onesignal.api_key': push.apiKey,
  };
  await call('patchAdminSettings', { as: admin, body: settings });
  const known = await makeContents(stack);
  await eventually('the document has the collections', async () => {
    await survey.learn(admin);
    return ['create_everything', 'create_others', 'list_seen'].every((id) =>
      survey.operations.some((operation) => operation.id === id),
    );
  });
  const left = await goThroughContents({ call, admin });
  const hook = await goThroughWebhooks({ call, admin });
  await goThroughOwnedWebhooks({ call, admin }, { collection: 'everything', id: left.recordId });
  await goThroughAccounts({ call, admin, collection: userCollection, mails, provider });
  await goThroughLive({ call, admin, url: stack.url, reach: survey.reach });
  await goThroughAdministration({ call, admin });

  await t.test('no request makes a service load a module [cost §4.3]', () => {
    // Node's modules are in its binary. undici loads its small parser with the first connection.
    const isOwn = (line: string) =>
      line.includes('/main.ts file:') &&
      !line.includes('/undici/lib/llhttp/') &&
      !line.includes(environment.SERVICE_EXTENSIONS_DIR);
    assert.deepEqual(loaded().slice(atStart).split('\n').filter(isOwn), []);
  });

  await t.test('every operation succeeds once', () => {
    const ids = survey.operations.map(({ id }) => id).filter((id) => id !== ofBuild);
    t.diagnostic(`${ids.filter((id) => survey.reached.has(id)).length} of ${ids.length} operations succeeded`);
    assert.deepEqual(
      ids.filter((id) => !survey.reached.has(id) && !outOfReach.has(id)),
      [],
    );
  });
  const clients = {
    guest: stack.guest,
    user,
    admin: createClient(stack.url, admin),
    impostor: createClient(stack.url, 'eyJhbGciOiJub25lIn0.e30.'),
  };
  const { document } = survey;
  const operations = survey.operations.filter(({ id }) => !excluded.has(id));
  const findProblem = createFindProblem(document);

  const seen = new Map<string, number>();
  /** The first of each kind: an operation and its answer's status. */
  const problems = new Map<string, string>();
  async function send(request: FuzzRequest): Promise<void> {
    const { method, path, headers, body } = request;
    const client = clients[request.as satisfies Caller];
    const answer = await client.send(method, path, { headers, ...(body !== undefined && { rawBody: body }) });
    const outcome = `${request.operation.id} ${answer.status}`;
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    const problem = findProblem(request, answer);
    if (problem !== undefined && !problems.has(outcome))
      problems.set(
        outcome,
        `${request.as}: ${method} ${path} ${JSON.stringify(headers)} ${String(body ?? '').slice(0, 2000)}\n${problem}`,
      );
  }

  const existing = {
    ...known,
    id: [...(known.id ?? []), left.recordId, hook.id, user.id],
    deliveryId: [hook.deliveryId],
    filename: [left.filename],
    name: ['clock.tick'],
    provider: ['oidc'],
  };
  await fc.assert(fc.asyncProperty(requestTo({ document, operations, known: existing, destructive }), send), {
    seed,
    numRuns: 1_000_000,
    interruptAfterTimeLimit: seconds * 1000,
    markInterruptAsFailure: false,
  });
  const sent = [...seen.values()].reduce((sum, count) => sum + count, 0);
  const called = new Set([...seen.keys()].map((outcome) => outcome.split(' ')[0]));
  t.diagnostic(`${sent} requests to ${called.size} of ${operations.length} operations, ${seen.size} outcomes`);
  assert.deepEqual([...problems.values()], []);
  assert.deepEqual(loggedErrors(stack.process.lines), []);
});
