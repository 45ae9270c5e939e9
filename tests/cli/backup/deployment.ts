import { join } from 'node:path';
import type { Client } from '../../harness/clients/client.ts';
import { at, type JsonObject, listAt, textAt } from '../../harness/json.ts';
import { type CliResult, runCli } from '../../harness/processes/cli.ts';
import { type Receiver, startReceiver } from '../../harness/servers/receiver.ts';
import { createGround, environmentOf, firstAdmin, type Ground, startStack } from '../../harness/stacks/stack.ts';

/** A running deployment with records, files, views and a webhook, and the commands on its backups. */
export interface Deployment extends AsyncDisposable {
  readonly ground: Ground;
  readonly url: string;
  readonly receiver: Receiver;
  readonly admin: Client;
  /** The first admin's token, which is valid in restored deployments too. */
  readonly token: string;
  /** Returns an archive's path in the data directory. */
  archive(name: string): string;
  backup(name: string): Promise<CliResult>;
  restore(name: string, into: Ground, ...flags: string[]): Promise<CliResult>;
}

/** The environment for a stack whose secret is only in its file, which is part of a backup. */
export const variablesOf = (ground: Ground) => ({
  ...environmentOf(ground),
  SERVICE_JWT_SECRET: '',
  SERVICE_ENCRYPTION_KEY: 'k',
});

export const perPage = 1000;
export const listAll = async (client: Client, collection: string): Promise<readonly JsonObject[]> =>
  listAt((await client.get(`/api/v1/${collection}?perPage=${perPage}`)).json, 'data');

/** Returns all collections' definitions, which are equal in both deployments. */
export const definitionsOf = async (client: Client): Promise<unknown> =>
  at((await client.get('/api/v1/admin/migrations/snapshot')).json, 'data.collections');

export async function startDeployment(): Promise<Deployment> {
  await using starting = new AsyncDisposableStack();
  const ground = starting.use(await createGround());
  const receiver = starting.use(await startReceiver());
  const stack = await startStack({ topology: 'one', ground, environment: variablesOf(ground) });
  starting.defer(() => stack.stop());
  const admin = await stack.admin();
  const session = await stack.guest.post('/api/v1/admin/login', firstAdmin, 200);
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.0/8', 'metrics.token': 'sealed' });
  await defineCollections(admin);
  await admin.post('/api/v1/admin/webhooks', { name: 'all', url: receiver.url, events: ['posts.*'] });
  const archive = (name: string): string => join(ground.dataDirectory, name);
  const started = starting.move();
  return {
    ground,
    url: stack.url,
    receiver,
    admin,
    token: textAt(session, 'token'),
    archive,
    backup: (name) => runCli(['backup', 'create', archive(name), '--json'], { environment: variablesOf(ground) }),
    restore: (name, into, ...flags) =>
      runCli(['backup', 'restore', archive(name), '--json', ...flags], { environment: variablesOf(into) }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function defineCollections(admin: Client): Promise<void> {
  const define = (body: object) => admin.post('/api/v1/collections', body);
  await define({ name: 'authors', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
  await define({
    name: 'posts',
    type: 'base',
    history_enabled: true,
    fields: [
      { name: 'worker', type: 'number' },
      { name: 'n', type: 'number' },
      { name: 'title', type: 'text', options: { unique: true } },
      { name: 'author', type: 'relation', collection: 'authors' },
      { name: 'readers', type: 'relation', collection: 'authors', options: { multiple: true } },
      { name: 'at', type: 'autodate', onCreate: true },
    ],
  });
  await admin.post('/api/v1/admin/collections/posts/indexes', {
    name: 'by_worker',
    columns: ['worker', 'n'],
    unique: true,
  });
  await admin.post('/api/v1/admin/collections/posts/indexes', {
    name: 'words',
    type: 'search',
    fields: [{ field: 'title' }],
  });
  await define({
    name: 'papers',
    type: 'base',
    fields: [
      { name: 'worker', type: 'number' },
      { name: 'n', type: 'number' },
      { name: 'scan', type: 'file' },
    ],
  });
  await define({ name: 'firsts', type: 'view', view_query: 'select p.id, p.title from posts p where p.n = 0' });
  await define({ name: 'first_titles', type: 'view', view_query: 'select f.id, f.title from firsts f' });
}
