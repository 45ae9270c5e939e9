import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { createMoveFolder, startTarget } from '../harness/pocketbase/move.ts';
import { copyFromCache, findOwnData } from '../harness/pocketbase/own-data.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { differing } from '../pocketbase-clients/scenarios/differing.ts';
import { createOwnTokens, sessionsIn } from '../pocketbase-clients/scenarios/own-tokens.ts';
import { readScenarios, type Scenario } from '../pocketbase-clients/scenarios/read-scenarios.ts';
import { orderOf, runScenario } from '../pocketbase-clients/scenarios/run-scenario.ts';

const found = await findOwnData();
/** The files about what apps call. */
const appFacing = /^(record_(auth|crud)\w*|file|health|batch|realtime)_test\.go$/;

/** Runs scenarios on a stack with PocketBase's test data. Returns what is wrong, by the scenarios' ids. */
async function runRound(directory: string, scenarios: readonly Scenario[], sessions: ReadonlyMap<string, string>) {
  await using tidying = new AsyncDisposableStack();
  const folder = createMoveFolder(tidying);
  await copyFromCache(directory, join(folder, 'pb_data'));
  const mail = tidying.use(await startMailServer());
  const { stack, admin, move } = await startTarget(tidying, folder);
  const moved = await move();
  assert.equal(moved.code, 0, moved.stderr);
  await admin.patch('/api/v1/admin/settings', {
    ...mail.settings,
    'pocketbase.enabled': '1',
    'rate_limit.enabled': '0',
    'password.min_length': '8',
    'auth.otp.enabled': '1',
    'oauth2.google.client_id': 'shop',
    'oauth2.google.client_secret': 'none, as no scenario gets as far as the provider',
  });
  const url = `${stack.url}/pb`;
  await eventually('codes and mail are on', async () => {
    const asked = await fetch(`${url}/api/collections/users/request-otp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nobody@example.com' }),
    });
    return asked.status === 200;
  });
  const tokens = await createOwnTokens(url, mail, sessions);
  const wrong = new Map<string, string>();
  for (const scenario of scenarios.toSorted((a, b) => orderOf(a) - orderOf(b))) {
    const problem = await runScenario(url, await tokens.replaceIn(scenario));
    if (problem !== undefined) wrong.set(scenario.id, problem);
  }
  return wrong;
}

test("PocketBase's own API tests, on their data", { skip: 'missing' in found && found.missing }, async (t) => {
  assert.ok('directory' in found);
  const source = join(found.directory, '..', '..', 'apis');
  const all = readdirSync(source)
    .filter((name) => appFacing.test(name))
    .flatMap((name) => readScenarios(readFileSync(join(source, name), 'utf8')).scenarios);
  const sessions = sessionsIn(all);
  let wrong = new Map<string, string>();
  // PocketBase's tests begin with the same records each. Here a scenario gets new ones when earlier ones are in its way.
  for (let [left, before] = [all, Infinity]; left.length < before; left = all.filter(({ id }) => wrong.has(id))) {
    before = left.length;
    wrong = await runRound(found.directory, left, sessions);
  }
  const page = readFileSync(new URL('../../docs/pocketbase-clients.md', import.meta.url), 'utf8');
  const equal = all.length - Object.keys(differing).length;
  assert.ok(page.includes(`${equal} of ${all.length}`), `the page has to say that ${equal} of ${all.length} are equal`);
  for (const { id, method, path } of all)
    await t.test(id, () => {
      const problem = wrong.get(id);
      if (problem !== undefined) t.diagnostic(`DIFF ${id} | ${method} ${path} | ${problem}`);
      if (differing[id] === undefined) assert.equal(problem, undefined);
      else assert.ok(problem, 'it is as PocketBase expects, so it needs no reason');
    });
});
