import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { type Client, createClient } from '../harness/clients/client.ts';
import { pngOf } from '../harness/clients/png.ts';
import { createWebhook, deliveriesOf } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, numberAt, textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { createGround, firstAdmin, repository, type Stack, startStack } from '../harness/stacks/stack.ts';
import { erased, tablesWith } from '../scenarios/erasures.ts';
import { copyExtensions } from '../scenarios/extensions/extensions-directory.ts';
import { upload } from '../scenarios/file-forms.ts';
import { ended } from '../scenarios/import-jobs.ts';
import { configure } from '../scenarios/inbound-mails/mail-ground.ts';
import { variablesOf } from './backup/deployment.ts';
import { archivesIn, filesWith, places } from './erasure/places.ts';
import { define, email, marker, plantFailures, plantImport, plantMailIn, plantWaysIn } from './erasure/plants.ts';

const password = 'a long and winding password';
const directory = copyExtensions('erasing');
after(() => rmSync(directory, { recursive: true }));

const nearest = async (admin: Client) => {
  const query = `nearVector=${encodeURIComponent('[1,0]')}&nearVectorField=likeness&nearLimit=10`;
  return listAt((await admin.get(`/api/v1/everywhere_reports?${query}`)).json, 'data').map(({ id }) => id);
};

/** Waits until a query has this many rows. */
const rowsOf = (databaseUrl: string, what: string, count: number, text: string, values: readonly unknown[]) =>
  eventually(what, async () => {
    const { length } = await inDatabase({ databaseUrl }, text, [...values]);
    if (length !== count) throw new Error(`${length} instead of ${count}`);
    return true;
  });

/** Plants the marker in every place where the product stores something about a person. */
async function plant(stack: Stack, admin: Client, receiverUrl: string) {
  const { databaseUrl } = stack.ground;
  const hook = await createWebhook(admin, receiverUrl, [
    'everywhere_people.*',
    'everywhere_reports.*',
    'system.job.dead',
  ]);
  const failing = await createWebhook(admin, `${receiverUrl}bad`, ['everywhere_reports.*'], {
    name: 'bad',
    retry_max: 20,
  });
  const poll = await admin.post('/api/v1/admin/webhooks', {
    name: 'read',
    type: 'poll',
    events: ['everywhere_people.*', 'everywhere_reports.*'],
  });
  const registered = await stack.guest.post('/api/v1/auth/everywhere_people/register', { email, password });
  const id = textAt(registered, 'record.id');
  const person = createClient(stack.url, textAt(registered, 'token'));
  await admin.patch(`/api/v1/everywhere_people/${id}`, { full_name: marker });
  const report = await upload(
    admin,
    '/api/v1/everywhere_reports',
    { name: 'text', content: `${marker} was here` },
    { name: 'person', content: id },
    { name: 'likeness', content: '[1,0]' },
    { name: 'scan', filename: `${marker}.png`, type: 'image/png', content: pngOf(60, 60) },
  );
  const body = { text: `${marker} came again`, person: id };
  await plantWaysIn(databaseUrl, id);
  await plantMailIn(stack.guest);
  await plantImport(admin, String(report.id), id);
  await plantFailures(admin, stack.guest, id);
  const headers = { 'Idempotency-Key': 'everywhere-1' };
  assert.equal((await admin.send('POST', '/api/v1/everywhere_reports', { body, headers })).status, 201);
  await admin.patch(`/api/v1/everywhere_reports/${report.id}`, { text: `${marker} went` });
  await admin.get(`/api/files/everywhere_reports/${report.id}/${report.scan}?thumb=20x20`);
  await stack.guest.post(
    '/api/x/kept/jobs',
    { job: 'keeper.later', input: { person: id, text: marker }, options: { in_s: 86_400 } },
    200,
  );
  // The only two requests as the person.
  assert.equal((await person.get(`/api/v1/everywhere_people/${id}`)).status, 200);
  const exported = await person.get('/api/v1/auth/everywhere_people/export');
  const archive = textAt(exported.json, 'data.id');
  await ended(admin, archive);
  await admin.post(`/api/v1/admin/impersonate/everywhere_people/${id}`, {}, 200);

  await eventually('the webhooks have every event', async () => {
    const [sent, kept] = [await deliveriesOf(admin, hook.id), await deliveriesOf(admin, poll.id)];
    const refused = await deliveriesOf(admin, failing.id);
    return (
      sent.filter(({ status }) => status === 'success').length === 6 &&
      kept.length === 5 &&
      refused.length === 3 &&
      refused.some(({ response_code: code }) => code === 500)
    );
  });
  const requests = `select from system.requests where principal_id = $1 or path like '/api/files/%'`;
  await rowsOf(databaseUrl, 'requests are logged', 3, requests, [id]);
  await rowsOf(databaseUrl, 'two acts are audited', 2, 'select from system.audit where strpos(audit::text, $1) > 0', [
    id,
  ]);
  await rowsOf(databaseUrl, 'the preview is noted', 1, 'select from system.previews where record_id = $1', [report.id]);
  await rowsOf(
    databaseUrl,
    'no change waits for its mail',
    0,
    'select from system.account_changes where account_id = $1',
    [id],
  );
  await eventually('the mail waits for its second attempt', async () => {
    const [mail] = listAt((await admin.get(`/api/v1/admin/mails?record_id=${id}`)).json, 'data');
    return numberAt(mail ?? {}, 'attempts') > 0;
  });
  await eventually('the words are known', async () =>
    (await tablesWith({ databaseUrl }, marker)).some((name) => name.includes(':known')),
  );
  return { id, archive, report };
}

test('an erasure leaves nothing in any place, and its certificate counts each [privacy §2.4]', async (t) => {
  const page = readFileSync(join(repository, 'docs/privacy.md'), 'utf8');
  const table = page.slice(page.indexOf('| place |'), page.indexOf('Ids stay in some places'));
  assert.deepEqual(
    [...table.matchAll(/^\| (.+?) \|/gm)].map(([, name]) => name).filter((name) => !/^(place|---)/.test(String(name))),
    Object.keys(places),
  );
  await using server = await startMailServer();
  await using receiver = await startReceiver();
  await using ground = await createGround();
  const environment = { ...variablesOf(ground), SERVICE_EXTENSIONS_DIR: directory };
  const older = join(ground.dataDirectory, 'older.tar.gz');
  const target = { databaseUrl: ground.databaseUrl };
  const noTable = () =>
    eventually(
      'no table has the marker',
      async () => {
        const found = (await tablesWith(target, marker)).filter((name) => name !== 'system.failed_logins');
        if (found.length > 0) throw new Error(found.join(', '));
        return true;
      },
      { timeoutMs: 60_000 },
    );
  const noFile = () =>
    eventually('no file has the marker', () => {
      const found = filesWith(ground.dataDirectory);
      if (found.length > 0) throw new Error(found.join(', '));
      return true;
    });
  let kept: JsonObject;
  {
    await using stack = await startStack({ topology: 'one', ground, environment });
    const admin = await stack.admin();
    receiver.behave((to, sent) => ({
      status: to.endsWith('bad') ? 500 : 200,
      body: JSON.stringify(sent).includes(marker) ? `no ${marker}` : '',
    }));
    await admin.patch('/api/v1/admin/settings', server.settings);
    await configure(admin, stack.guest);
    await define(admin);
    kept = await admin.create('everywhere_reports', { text: 'of another person', likeness: [1, 0] });
    const { id, archive, report } = await plant(stack, admin, receiver.url);

    await t.test('every place has the marker before', async () => {
      const found = await tablesWith(target, marker);
      const lacking = Object.values(places)
        .flat()
        .filter((beginning) => !found.some((name) => name.startsWith(beginning)));
      assert.deepEqual(lacking, [], found.join(', '));
      assert.notDeepEqual(filesWith(ground.dataDirectory), []);
      assert.equal((await inDatabase(target, 'select from system.inbound_mails', [])).length, 1);
      assert.ok((await nearest(admin)).includes(report.id));
      assert.equal((await admin.get(`/api/v1/jobs/${archive}`)).status, 200);
      assert.equal(archivesIn(ground.dataDirectory).length, 1);
    });

    const made = await admin.post('/api/v1/admin/backups', {}, 202);
    const backup = await eventually('the backup is made', async () => {
      const { json } = await admin.get(`/api/v1/admin/backups/${made.id}`);
      return at(json, 'data.state') === 'done' && textAt(json, 'data.file');
    });
    copyFileSync(join(ground.dataDirectory, 'backups/archives', String(made.id), backup), older);

    await t.test('the certificate counts each member, as its dry run did', async () => {
      const expected = {
        records: 3,
        history: 8,
        files: 1,
        previews: 1,
        deliveries: 14,
        // One is about a job.
        events: 6,
        // Two by the account, and the admin's download.
        requests: 3,
        audit: 2,
        // One of them came in.
        mails: 3,
        backups: [{ name: backup, keep_until: null }],
      };
      const { stream_until: _, ...tried } = await erased(admin, 'everywhere_people', id, { dry_run: true });
      assert.deepEqual(tried, expected);
      const began = Date.now() / 1000;
      const { stream_until: until, ...counts } = await erased(admin, 'everywhere_people', id);
      assert.deepEqual(archivesIn(ground.dataDirectory), []);
      assert.deepEqual(counts, expected);
      const days = 7 * 24 * 3600;
      assert.ok(Number(until) >= began + days - 1 && Number(until) <= Date.now() / 1000 + days + 1, `${until}`);
    });

    await t.test('no mail that came in is left', async () => {
      assert.deepEqual(await inDatabase(target, 'select from system.inbound_mails', []), []);
    });

    await t.test('its audit rows have a keyed hash', async () => {
      const rows = await inDatabase(target, 'select from system.audit where strpos(audit::text, $1) > 0', [id]);
      assert.deepEqual(rows, []);
    });

    await t.test('no table and no file has it afterwards, and nothing reads it out', async () => {
      await noTable();
      await noFile();
      assert.deepEqual(await nearest(admin), [kept.id]);
      assert.equal((await admin.get(`/api/v1/jobs/${archive}`)).status, 404);
      assert.deepEqual(server.received, []);
      const corrected = await admin.get('/api/v1/everywhere_reports?search=Kontrabassklarinettx');
      assert.ok(!corrected.text.includes(marker.toLowerCase()), corrected.text);
      const events = (await admin.get('/api/v1/admin/events?perPage=100')).text;
      assert.ok(!events.includes(marker), events);
    });

    await t.test('the stream has it until the day that the certificate names', async () => {
      await using bus = await openBusReader(stack.natsUrl);
      await eventually('the stream is read', () =>
        bus.events.some(({ body }) => JSON.stringify(body).includes(marker)),
      );
    });
  }

  await t.test(
    'a restore of an older backup brings it back, and the next start erases it again [privacy §2.7]',
    async () => {
      const restored = await runCli(['backup', 'restore', older, '--force', '--json'], { environment });
      assert.equal(restored.code, 0, restored.stderr);
      assert.notDeepEqual(await tablesWith(target, marker), []);
      assert.notDeepEqual(filesWith(ground.dataDirectory), []);
      await using again = await startStack({ topology: 'one', ground, environment });
      const session = await again.guest.post('/api/v1/admin/login', firstAdmin, 200);
      const admin = createClient(again.url, textAt(session, 'token'));
      await eventually('the erasure was repeated', async () => {
        const jobs = listAt((await admin.get('/api/v1/jobs')).json, 'data');
        return jobs.some(({ kind, state }) => kind === 'erase' && state === 'done');
      });
      await noTable();
      await noFile();
      assert.deepEqual(await nearest(admin), [kept.id]);
      assert.deepEqual(server.received, []);
    },
  );
});
