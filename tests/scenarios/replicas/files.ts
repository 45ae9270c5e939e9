import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { file, multipart } from '../../harness/clients/multipart.ts';
import { eventually } from '../../harness/eventually.ts';
import { objectAt, textAt } from '../../harness/json.ts';
import type { Replicas } from './start-replicas.ts';

/** Each replica serves the other's files. A one-time token works once over both. */
export async function files(t: TestContext, { ground, first, second }: Replicas): Promise<void> {
  const admin = await first.admin();
  const fields = [
    { name: 'once', type: 'file', options: { oneTimeToken: true } },
    { name: 'open', type: 'file' },
  ];
  await admin.post('/api/v1/collections', { name: 'papers', type: 'base', fields });
  const form = multipart(file('once', 'a.txt', 'A'), file('open', 'b.txt', 'B'));
  const answer = await first.guest.send('POST', '/api/v1/papers', form);
  assert.equal(answer.status, 201, answer.text);
  const record = objectAt(answer.json, 'data');

  await t.test("one replica's file is served by the other", async () => {
    const got = await second.guest.get(`/api/files/papers/${record.id}/${record.open}`);
    assert.deepEqual([got.status, got.text], [200, 'B']);
  });

  await t.test('among parallel GETs with a one-time token, one gets the file [files §7.4]', async () => {
    const body = { collection: 'papers', id: record.id, filename: record.once };
    const token = textAt(await first.guest.post('/api/v1/files/token', body, 200), 'token');
    const url = `/api/files/papers/${record.id}/${record.once}?token=${token}`;
    const clients = [first.guest, second.guest, first.guest, second.guest, first.guest, second.guest];
    const statuses = await Promise.all(clients.map(async (client) => (await client.get(url)).status));
    assert.deepEqual(statuses.sort(), [200, 410, 410, 410, 410, 410]);
  });

  await t.test('an upload that breaks off leaves no draft [files §1.2]', async () => {
    const outgoing = request(`${first.url}/api/v1/papers`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    });
    outgoing.on('error', () => {});
    outgoing.write('--b\r\nContent-Disposition: form-data; name="open"; filename="half.txt"\r\n\r\n');
    outgoing.write(Buffer.alloc(300_000, 'x'));
    const uploads = join(ground.dataDirectory, 'uploads');
    const drafts = () => readdir(join(uploads, '.drafts'));
    await eventually('the upload has begun', async () => (await drafts()).length === 1);
    outgoing.destroy();
    await eventually('the draft is gone', async () => (await drafts()).length === 0);
    const names = await readdir(uploads, { recursive: true });
    assert.deepEqual(
      names.filter((name) => name.includes('half')),
      [],
    );
  });
}
