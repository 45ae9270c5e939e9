import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { prepareMove } from '../harness/pocketbase/move.ts';
import { day, fillNotes, id, seconds } from './pocketbase-notes.ts';

const digestOf = (directory: string): string => {
  const hash = createHash('sha256');
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort())
    if (!name.endsWith('-shm') && /\.(db|db-wal|txt|png)$/.test(name))
      hash.update(name).update(readFileSync(join(directory, name)));
  return hash.digest('hex');
};

suite('moving in from PocketBase', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const { folder, directory, data, stack, admin, token, importFrom, move } = await prepareMove(tidying, fillNotes);
  const record = async (path: string) => at((await admin.get(`/api/v1/records/${path}`)).json, 'data');
  const collectionOf = (report: unknown, name: string) =>
    listAt(report, 'collections').find((one) => at(one, 'to') === name);

  test('--resume needs the notes of an earlier run [move §1.3]', async () => {
    const { code, stderr } = await move('--resume');
    assert.equal(code, 1);
    assert.match(stderr, /\.recordbus does not exist/);
    assert.ok(!existsSync(`${directory}.recordbus`));
  });

  test('a dry run shows the plan, and writes nothing [move §2.1]', async () => {
    const before = digestOf(directory);
    const page = join(folder, 'plan.html');
    const { code, json, stderr } = await move('--dry-run', '--report', page);
    assert.equal(code, 2, stderr);
    assert.equal(at(json, 'dry_run'), true);
    const notes = collectionOf(json, 'notes');
    assert.equal(at(notes, 'created'), 2);
    assert.deepEqual([at(notes, 'files'), at(notes, 'files_missing')], [2, 1]);
    assert.deepEqual(at(notes, 'missing_files'), [`${id('one')}/gone_1234567890.txt`]);
    assert.match(readFileSync(page, 'utf8'), /strftime/);
    assert.equal((await admin.get('/api/v1/collections/notes')).status, 404);
    assert.ok(!existsSync(`${directory}.recordbus`));
    assert.equal(digestOf(directory), before);
  });

  test('a run takes collections, records, files and users, and leaves the source as it is [move §2.2]', async () => {
    const before = digestOf(directory);
    const { code, json, stderr } = await move('--report', join(folder, 'report.json'));
    assert.equal(code, 0, stderr);
    assert.equal(digestOf(directory), before);
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')), json);
    const one = await record(`notes/${id('one')}`);
    for (const [member, value] of Object.entries({
      title: 'One',
      owner: id('ada'),
      labels: [id('red')],
      parent: id('two'),
      amount: 3,
      at: seconds(5),
      place: { lat: 48.2, lng: 16.4 },
      data: { a: [1, null] },
      expand_: 'x',
      created: seconds(1),
      updated: seconds(2),
    }))
      assert.deepEqual(at(one, member), value, member);
    const two = await record(`notes/${id('two')}`);
    for (const name of ['at', 'place', 'data']) assert.equal(at(two, name), null, name);
    assert.deepEqual([at(two, 'amount'), at(two, 'parent'), at(two, 'files')], [0, id('one'), []]);
    const red = await record(`labels/${id('red')}`);
    assert.deepEqual([at(red, 'first'), at(red, 'until')], [id('two'), 253_402_300_799]);
    const lost = listAt(json, 'lost_values').map((one) => [at(one, 'collection'), at(one, 'field'), at(one, 'count')]);
    assert.deepEqual(lost, [
      ['notes', 'labels', 1],
      ['notes', 'files', 1],
    ]);
  });

  test('files keep their names and bytes; names that cannot be here change, and missing files are listed [move §2.5]', async () => {
    const names = listAt(await record(`notes/${id('one')}`), 'files').map(String);
    assert.equal(names[0], 'a_1234567890.txt');
    const bytes = async (name: string) => (await stack.guest.get(`/api/v1/files/notes/${id('one')}/${name}`)).text;
    assert.deepEqual([await bytes(names[0] ?? ''), await bytes(names[1] ?? '')], ['bytes of a', 'bytes of ü']);
    assert.match(names[1] ?? '', /^[A-Za-z0-9_.-]+$/);
    const report: unknown = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    const notes = collectionOf(report, 'notes');
    assert.deepEqual([at(notes, 'files'), at(notes, 'files_missing')], [2, 1]);
    assert.deepEqual(listAt(notes, 'missing_files'), [`${id('one')}/gone_1234567890.txt`]);
  });

  test('rules are translated or locked, and the report has both texts [move §2.4]', async () => {
    const { json } = await admin.get('/api/v1/collections/notes');
    assert.equal(at(json, 'data.update_rule'), '');
    assert.equal(at(json, 'data.delete_rule'), '');
    assert.match(textAt(json, 'data.view_rule'), /@request\.auth\.type_ = "staff"/);
    assert.match(textAt(json, 'data.create_rule'), /amount != 0/);
    const report: unknown = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    const locked = listAt(report, 'rules').filter((rule) => at(rule, 'result') === 'locked');
    assert.deepEqual(
      locked.map((rule) => [at(rule, 'collection'), at(rule, 'rule'), at(rule, 'from'), at(rule, 'to')]),
      [['notes', 'update_rule', 'strftime("%Y", at) = "2025"', '']],
    );
  });

  test('the same users sign in with their old passwords [move §2.3]', async () => {
    const login = (email: string, password: string) =>
      stack.guest.send('POST', '/api/v1/auth/users/login', { body: { identity: email, password } });
    assert.equal((await login('ada@example.com', 'secret-of-ada')).status, 200);
    assert.equal((await login('ada', 'secret-of-ada')).status, 200, 'by the name, which identified users too');
    assert.equal((await login('ada@example.com', 'secret-of-eve')).status, 401);
  });

  test('links to providers come, with settings but no secrets; others are in the report [move §2.7]', async () => {
    const linked = async () =>
      listAt((await admin.get(`/api/v1/admin/users/users/${id('ada')}`)).json, 'data.links').map((one) =>
        at(one, 'provider'),
      );
    assert.deepEqual((await linked()).sort(), ['github', 'oidc.oidc2']);
    const settings = at((await admin.get('/api/v1/admin/settings')).json, 'data') as Record<string, string>;
    const wanted = { 'oauth2.github.client_id': 'of-github', 'oauth2.github.client_secret': '' };
    const oidc = 'oauth2.providers.oidc.oidc2';
    for (const [key, value] of Object.entries({ ...wanted, [`${oidc}.token_url`]: 'https://id.example.com/token' }))
      assert.equal(settings[key], value, key);
    const report: unknown = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    assert.equal(at(collectionOf(report, 'users'), 'links'), 2);
    const texts = listAt(report, 'notes').map((note) => textAt(note, 'text'));
    assert.ok(
      texts.some((text) => /1 links? to providers .*yandex/.test(text)),
      texts.join('\n'),
    );
    assert.ok(!JSON.stringify(report).includes('never taken'));
    // Deleted there, it goes here.
    data.database.exec(`delete from _externalAuths where provider = 'oidc2'`);
    assert.equal((await move()).code, 0);
    assert.deepEqual(await linked(), ['github']);
  });

  test('a second run takes what has changed, and keeps what was changed here [move §3]', async () => {
    const own = await admin.create('notes', { title: 'Here', amount: 1 });
    await admin.send('PATCH', `/api/v1/records/notes/${id('two')}`, { body: { title: 'Two, here' } });
    data.database.exec(`update notes set title = 'Two, there', updated = '${day(9)}' where id = '${id('two')}';
      update notes set title = 'One, there', files = '["a_1234567890.txt","b_1234567890.txt"]' where id = '${id('one')}';
      update users set username = 'ada2' where id = '${id('ada')}'; delete from labels`);
    data.insert('labels', { id: id('blue'), name: 'blue', first: '', created: day(3), updated: day(3) });
    data.store('pbc_notes', id('one'), 'b_1234567890.txt', 'bytes of b');
    const { code, json, stderr } = await move();
    assert.equal(code, 0, stderr);
    assert.deepEqual(listAt(collectionOf(json, 'notes'), 'kept_here'), [id('two')]);
    const counts = ['created', 'changed', 'deleted', 'unchanged'].map((name) => at(collectionOf(json, 'labels'), name));
    assert.deepEqual(counts, [1, 0, 1, 0]);
    assert.equal(at(await record(`notes/${id('two')}`), 'title'), 'Two, here');
    const one = await record(`notes/${id('one')}`);
    assert.deepEqual([at(one, 'title'), at(one, 'labels')], ['One, there', []]);
    assert.deepEqual(at(one, 'files'), ['a_1234567890.txt', 'b_1234567890.txt']);
    const added = await stack.guest.get(`/api/v1/files/notes/${id('one')}/b_1234567890.txt`);
    assert.equal(added.text, 'bytes of b');
    assert.equal(at(await record(`users/${id('ada')}`), 'username'), 'ada2');
    assert.equal((await admin.get(`/api/v1/records/labels/${id('red')}`)).status, 404);
    assert.equal(at(await record(`notes/${String(own.id)}`), 'title'), 'Here');
    const third = await move();
    for (const collection of listAt(third.json, 'collections'))
      assert.deepEqual(
        ['created', 'changed', 'deleted'].map((name) => at(collection, name)),
        [0, 0, 0],
      );
  });

  test('a run waits for imports into its collections: one that was killed has left them [move §3.1]', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ id: `left${n}`, name: 'left' }));
    const answer = await fetch(`${stack.url}/api/v1/records/labels/import?format=ndjson&keep=id&mode=upsert`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: rows.join('\n'),
    });
    assert.equal(answer.status, 202, await answer.clone().text());
    data.database.exec(`update labels set name = 'Blue', updated = '${day(10)}' where id = '${id('blue')}'`);
    const { code, json, stderr } = await move();
    assert.equal(code, 0, stderr);
    assert.equal(at(collectionOf(json, 'labels'), 'changed'), 1);
    const left = textAt(await answer.json(), 'data.id');
    const jobs = listAt((await admin.get('/api/v1/jobs?collection=labels&perPage=20')).json, 'data');
    const position = jobs.findIndex((job) => at(job, 'id') === left);
    assert.equal(at(jobs[position], 'state'), 'done');
    const later = jobs.slice(0, position).map((job) => Number(at(job, 'created')));
    assert.ok(later.length > 0 && Math.min(...later) >= Number(at(jobs[position], 'finished')), JSON.stringify(jobs));
  });

  test('no rate limit counts a run, and its key ends with it [move §1.2]', async () => {
    const rules = [{ label: '/api/v1/admin/schema', max: 1, windowMs: 600_000 }];
    const settings = { 'rate_limit.enabled': '1', 'rate_limit.rules': JSON.stringify(rules) };
    await admin.patch('/api/v1/admin/settings', settings);
    await eventually('the rule counts', async () => (await admin.get('/api/v1/admin/schema')).status === 429);
    const { code, stderr } = await move();
    assert.equal(code, 0, stderr);
    await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
    assert.deepEqual(listAt((await admin.get('/api/v1/admin/keys')).json, 'data'), []);
  });

  test('a collection that is there already, and a wrong directory, are refused with a sentence [move §2.1]', async () => {
    const fresh = await move('--state', join(folder, 'other'));
    assert.equal(fresh.code, 1);
    assert.match(fresh.stderr, /has a collection labels already/);
    for (const [name, make, sentence] of [
      ['none', () => {}, /does not exist/],
      ['text', (path: string) => writeFileSync(path, 'x'.repeat(5000)), /not a readable SQLite database/],
      ['old', (path: string) => new DatabaseSync(path).exec('create table _admins (id)'), /PocketBase 0\.22 or older/],
      ['other', (path: string) => new DatabaseSync(path).exec('create table a (id)'), /not a PocketBase database/],
    ] as const) {
      const place = mkdtempSync(join(folder, name));
      make(join(place, 'data.db'));
      const { code, stderr } = await importFrom(place);
      assert.equal(code, 1, name);
      assert.match(stderr, sentence, name);
    }
  });
});
