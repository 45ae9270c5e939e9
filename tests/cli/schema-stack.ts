import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../harness/clients/client.ts';
import { textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createGround, environmentOf, firstAdmin, startStack } from '../harness/stacks/stack.ts';

/** Starts a stack on its own servers, and returns functions that run `cli schema` on it. `tidying` ends the stack. */
export async function startForSchema(tidying: AsyncDisposableStack) {
  const ground = tidying.use(await createGround());
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const admin = await stack.admin();
  const key = textAt((await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin })).json, 'data.token');
  const inDatabase = environmentOf(ground);
  return {
    admin,
    environment: inDatabase,
    /** Runs a command against the running stack. */
    overHttp: (args: readonly string[], more: Record<string, string> = {}) =>
      runCli(['schema', ...args, '--url', stack.url], { environment: { SERVICE_KEY: key, ...more } }),
    /** Runs a command on its database. */
    overDatabase: (args: readonly string[], more: Record<string, string> = {}) =>
      runCli(['schema', ...args], { environment: { ...inDatabase, ...more } }),
  };
}

/** Defines a collection for each type, an index, a webhook with this secret, and settings. */
export async function defineSchema(admin: Client, secret: string): Promise<void> {
  await admin.post('/api/v1/collections', {
    name: 'authors',
    fields: [{ name: 'name', type: 'text', required: true }],
    history_enabled: true,
  });
  await admin.post('/api/v1/collections', {
    name: 'posts',
    list_rule: 'author.name != ""',
    fields: [
      { name: 'title', type: 'text', options: { max: 50 } },
      { name: 'author', type: 'relation', collection: 'authors' },
      { name: 'state', type: 'select', options: { values: ['open', 'done'] } },
      { name: 'made', type: 'autodate', onCreate: true },
    ],
  });
  await admin.patch('/api/v1/collections/authors', {
    fields: [
      ...(JSON.parse(textAt((await admin.get('/api/v1/collections/authors')).json, 'data.fields')) as object[]),
      { name: 'best', type: 'relation', collection: 'posts' },
    ],
  });
  await admin.post('/api/v1/collections', {
    name: 'titles',
    type: 'view',
    view_query: 'select id, title from posts',
  });
  await admin.post('/api/v1/collections', {
    name: 'people',
    type: 'auth',
    fields: [{ name: 'nick', type: 'text' }],
  });
  await admin.post('/api/v1/admin/collections/posts/indexes', { name: 'by_title', columns: ['title', 'id'] });
  await admin.post('/api/v1/admin/webhooks', {
    name: 'CRM (new)',
    url: 'https://crm.example.com/hook',
    events: ['posts.*'],
    secret,
    headers: { Authorization: 'Bearer x' },
  });
  await admin.patch('/api/v1/admin/settings', { 'smtp.host': 'mail.example.com', 'smtp.pass': 'hidden' });
}

/** A folder's files and their texts, by path. */
export const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')]),
  );
