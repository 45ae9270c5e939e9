import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipWithoutBrowser, startBrowser } from './harness/browser/browser.ts';
import { eventually } from './harness/eventually.ts';
import { createGround, startStack } from './harness/stacks/stack.ts';
import { serveApps } from './pocketbase-clients/apps/serve-apps.ts';
import { walkApps } from './pocketbase-clients/apps/walk-apps.ts';
import { ourSide } from './pocketbase-clients/ours.ts';
import { pocketBaseProgram, startTheirs, withoutProgram } from './pocketbase-clients/theirs.ts';

const skip = skipWithoutBrowser || (pocketBaseProgram === undefined && withoutProgram);

test("apps on PocketBase's client show the same on both servers, in a browser", { skip }, async () => {
  assert.ok(pocketBaseProgram);
  await using tidying = new AsyncDisposableStack();
  const { origin } = tidying.use(await serveApps());
  const browser = await startBrowser();
  tidying.defer(() => browser.close());

  const theirs = tidying.use(await startTheirs(pocketBaseProgram));
  await theirs.prepare();
  const expected = await walkApps(browser, origin, theirs);

  const stack = tidying.use(await startStack({ topology: 'one', ground: tidying.use(await createGround()) }));
  const ours = ourSide({ url: stack.url, admin: () => stack.admin() });
  await ours.prepare();
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', { 'cors.origins': origin });
  await eventually('pages may read answers', async () => {
    const answer = await fetch(`${ours.url}/api/health`, { headers: { origin } });
    return answer.headers.get('access-control-allow-origin') === origin;
  });
  const seen = await walkApps(browser, origin, ours);

  assert.deepEqual(seen, expected);
  assert.equal(seen.filter((line) => line.startsWith('error')).length, 0, seen.join('\n'));
});
