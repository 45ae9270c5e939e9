import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls } from '../client/route-calls.ts';

const root = join(import.meta.dirname, '../..');
const pages = join(root, 'services/admin/pages/src');

/** The admin routes that no page uses, and why. */
const unused: Readonly<Record<string, string>> = {
  'GET /api/v1/admin/settings': 'it would bring the secrets to the browser; the pages read the groups',
  'GET /api/v1/admin/backups/{id}': 'the list has the whole backup',
  'GET /api/v1/admin/keys/{id}': 'the list has the whole key',
  'POST /api/v1/collections/{collection}/fields': 'the editor saves all fields together',
  'PATCH /api/v1/collections/{collection}/fields/{field}': 'the editor saves all fields together',
  'DELETE /api/v1/collections/{collection}/fields/{field}': 'the editor saves all fields together',
  'GET /api/v1/admin/migrations/snapshot': 'a file, for the command line',
  'POST /api/v1/admin/migrations/apply': 'a file, for the command line',
  'PATCH /api/v1/admin/collections/{collection}/indexes/{index}': 'the pages create indexes and drop them',
  'POST /api/v1/admin/webhooks/portal': 'for apps, which link their customers to it',
  'GET /api/v1/admin/events/schema': 'for programs that read the bus',
  'PUT /api/v1/admin/users/{collection}/{id}/links/{provider}': 'for the command line, which moves an app in',
  'PUT /api/v1/admin/moved-sessions/{collection}': 'for the command line, which moves an app in',
  'POST /api/v1/admin/passkeys/register/options': "the client's passkeys.add calls it",
  'POST /api/v1/admin/passkeys/register/verify': "the client's passkeys.add calls it",
  'PUT /api/v1/files/{collection}/{id}/{filename}': 'for the command line, which moves an app in',
};

/** The routes that docs/api.md, which is made from their declarations, has for admins. */
function adminRoutes(): string[] {
  const rows = readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(/^\| `([A-Z]+ [^`]+)` \| admin \|/gm);
  return [...rows].map(([, route = '']) => route.replace(/:(\w+)/g, '{$1}'));
}

/** Returns how a page's source calls a route, such as `keys.list(`. */
function callOf(route: string): string {
  const text = String(calls[route]);
  const names = /\bc\)?\.((?:\w+\.)*\w+)\(/.exec(text)?.[1] ?? /records\(c\)\s*\.(\w+)\(/.exec(text)?.[1];
  assert.ok(names, `${route}: ${text}`);
  return `${names.split('.').slice(-2).join('.')}(`;
}

test('every admin route is used by a page, or has a reason why not', () => {
  const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' })
    // The API document's page shows calls, but sends none.
    .filter((file) => /\.(svelte|ts)$/.test(file) && !file.startsWith('reference'))
    .map((file) => readFileSync(join(pages, file), 'utf8').replace(/\s+(?=\.)/g, ''))
    .join('\n');
  const routes = adminRoutes();
  assert.ok(routes.length > 60);
  const used = routes.filter((route) => route in calls && sources.includes(callOf(route)));
  assert.deepEqual(
    routes.filter((route) => !used.includes(route) && !(route in unused)),
    [],
  );
  assert.deepEqual(
    Object.keys(unused).filter((route) => used.includes(route) || !routes.includes(route)),
    [],
  );
});
