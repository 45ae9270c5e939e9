import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { file, multipart } from '../harness/clients/multipart.ts';
import { allowLoopback, createWebhook, webhooksPath } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import type { Receiver } from '../harness/servers/receiver.ts';
import { callers, firstAdmin, userCollection } from '../harness/stacks/stack.ts';

/** What a deployment has that an upgrade must keep: a record with a file and history, an account, a key, a webhook. */
export interface Marks {
  /** The version that filled it. */
  readonly version: string;
  readonly record: string;
  /** The file's path. */
  readonly path: string;
  readonly content: string;
  readonly email: string;
  /** The account's session, and when its token ends. */
  readonly token: string;
  readonly tokenEndsAtMs: number;
  readonly key: string;
  readonly webhook: string;
}

/** The longest lifetime of a token. */
const yearSec = 31_536_000;

/** Fills a new deployment. */
export async function fillDeployment(url: string, setupToken: string | undefined, version: string): Promise<Marks> {
  const admin = await callers(url, setupToken).admin();
  await admin.patch('/api/v1/admin/settings', { 'auth.user.window_seconds': String(yearSec) });
  await admin.post('/api/v1/collections', { name: userCollection, type: 'auth' });
  const email = 'uma@example.com';
  const credentials = { email, password: firstAdmin.password };
  const session = await createClient(url).post(`/api/v1/auth/${userCollection}/register`, credentials);
  await admin.post('/api/v1/collections', {
    name: 'papers',
    type: 'base',
    history_enabled: true,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'secret', type: 'text', options: { encrypted: true } },
      { name: 'paper', type: 'file' },
    ],
  });
  const content = 'four score and seven';
  const form = multipart(
    { name: 'title', content: 'one' },
    { name: 'secret', content: 'hidden' },
    file('paper', 'paper.txt', content),
  );
  const { json } = await admin.send('POST', '/api/v1/papers', form);
  const record = textAt(json, 'data.id');
  await admin.patch(`/api/v1/papers/${record}`, { title: 'two' });
  // Nobody listens there until the check.
  const webhook = await createWebhook(admin, 'http://127.0.0.1:9/', ['papers.update']);
  return {
    version,
    record,
    path: `/api/v1/files/papers/${record}/${textAt(json, 'data.paper')}`,
    content,
    email,
    token: textAt(session, 'token'),
    tokenEndsAtMs: Date.now() + yearSec * 1000,
    key: textAt(
      await admin.post('/api/v1/admin/keys', {
        name: 'robot',
        scopes: ['files', 'records:papers:read', 'records:papers:write'],
      }),
      'key',
    ),
    webhook: textAt(webhook, 'id'),
  };
}

/** Checks that a deployment has everything that it was filled with, and that it works. */
export async function checkDeployment(url: string, marks: Marks, receiver: Receiver): Promise<void> {
  const guest = createClient(url);
  const [admin, robot, user] = [
    await callers(url, undefined).admin(),
    createClient(url, marks.key),
    createClient(url, marks.token),
  ];
  const { json } = await robot.get(`/api/v1/papers/${marks.record}`);
  assert.deepEqual([at(json, 'data.title'), at(json, 'data.secret')], ['two', 'hidden'], JSON.stringify(json));
  const versions = listAt((await admin.get(`/api/v1/papers/${marks.record}/history`)).json, 'data.data');
  assert.ok(versions.length >= 2, 'the history is shorter');
  assert.equal((await robot.get(marks.path)).text, marks.content);
  const credentials = { email: marks.email, password: firstAdmin.password };
  await guest.post(`/api/v1/auth/${userCollection}/login`, credentials, 200);
  if (marks.tokenEndsAtMs > Date.now())
    assert.equal((await user.get(`/api/v1/auth/${userCollection}/sessions`)).status, 200, 'the session ended');

  await allowLoopback(admin);
  await admin.patch(`${webhooksPath}/${marks.webhook}`, { url: receiver.url });
  const before = receiver.deliveries.length;
  await robot.patch(`/api/v1/papers/${marks.record}`, { title: 'three' });
  await eventually('the webhook delivers', () => receiver.deliveries.length > before);
  await robot.patch(`/api/v1/papers/${marks.record}`, { title: 'two' });
}
