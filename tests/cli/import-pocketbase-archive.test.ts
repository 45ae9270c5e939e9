import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, test } from 'node:test';
import { type ZippedFile, zipArchive } from '../harness/clients/zip-archive.ts';
import { eventually, Hopeless } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import type { PocketBaseData } from '../harness/pocketbase/data.ts';
import { prepareMove } from '../harness/pocketbase/move.ts';

const path = '/api/v1/admin/import/pocketbase';
const id = (name: string) => name.padEnd(15, '0');
const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };

function fill(data: PocketBaseData): void {
  data.define({
    id: 'pbc_notes',
    name: 'notes',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'file', type: 'file', maxSelect: 1 },
    ],
    rules: { list: '', view: 'strftime("%Y", created) = "2025"' },
  });
  for (const name of ['one', 'two', 'three'])
    data.insert('notes', { id: id(name), title: name, file: name === 'one' ? 'a_1234567890.txt' : '', ...times });
  data.store('pbc_notes', id('one'), 'a_1234567890.txt', 'bytes of a');
}

/** A data directory as PocketBase's backup has it. */
function filesOf(directory: string): ZippedFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(directory, name)).isFile() && !name.endsWith('-shm'))
    .map((name) => ({ name, bytes: readFileSync(join(directory, name)) }));
}

suite('moving in from a PocketBase backup', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const { directory, data, stack, admin, dataDirectory } = await prepareMove(tidying, fill, 'processes');
  const upload = (bytes: Buffer, query = '') =>
    admin.send('POST', `${path}${query}`, { rawBody: bytes, headers: { 'content-type': 'application/zip' } });
  const read = async (move: unknown) => at((await admin.get(`${path}/${textAt(move, 'id')}`)).json, 'data');
  const until = (move: unknown, ...states: string[]) =>
    eventually(`the move is ${states.join(' or ')}`, async () => {
      const now = await read(move);
      const state = textAt(now, 'state');
      if (states.includes(state)) return now;
      if (at(now, 'finished') !== null) throw new Hopeless(JSON.stringify(now));
      return undefined;
    });
  const start = async (bytes: Buffer, query = '') => {
    const { status, json, text } = await upload(bytes, query);
    assert.equal(status, 202, text);
    return at(json, 'data');
  };
  const command = (move: unknown, verb: string) => admin.send('POST', `${path}/${textAt(move, 'id')}/${verb}`);

  test('what is not a backup fails with a sentence, and leaves nothing [move §5.3]', async () => {
    const old = join(directory, '..', 'old.db');
    new DatabaseSync(old).exec('create table _admins (id)');
    const database = readFileSync(join(directory, 'data.db'));
    const cases: readonly (readonly [readonly ZippedFile[], RegExp])[] = [
      [[{ name: 'a.txt', bytes: 'x' }], /not a PocketBase backup: it has no data\.db/],
      [[{ name: 'pb_data/data.db', bytes: database }], /it has pb_data\/data\.db instead of data\.db/],
      [[{ name: 'data.db', bytes: readFileSync(old) }], /PocketBase 0\.22 or older/],
      [[{ name: 'data.db', bytes: 'x'.repeat(5000) }], /not a readable SQLite database/],
      [[{ name: 'data.db', bytes: database, flags: 1 }], /encrypted/],
      [
        [
          { name: 'data.db', bytes: database },
          { name: '../../evil', bytes: 'x' },
        ],
        /cannot be unpacked: .*relative path/,
      ],
      [
        [
          { name: 'data.db', bytes: database },
          { name: '/evil', bytes: 'x' },
        ],
        /cannot be unpacked: .*absolute path/,
      ],
      [[{ name: 'data.db', bytes: 'x'.repeat(50_000), noted: 10 }], /cannot be unpacked: .*bytes/],
      [[{ name: 'data.db', bytes: 'x', noted: 4_000_000_000 }], /needs [0-9]+ MiB on the disk|cannot be unpacked/],
      [
        [
          { name: 'data.db', bytes: database },
          { name: 'data.db', bytes: database },
        ],
        /names a file twice/,
      ],
    ];
    for (const [files, sentence] of cases) {
      const failed = await until(await start(zipArchive(files)), 'failed');
      assert.match(textAt(failed, 'error'), sentence);
      assert.doesNotMatch(textAt(failed, 'error'), /moves\//, 'no folder of the server');
    }
    const { status, json } = await upload(Buffer.from('not a zip archive'));
    assert.equal(status, 422);
    assert.match(textAt(json, 'details.body'), /not a zip archive/);
    assert.equal((await admin.get('/api/v1/collections/notes')).status, 404);
  });

  test('a backup that is larger than the setting allows is refused [move §5.3]', async () => {
    const set = (value: string) =>
      admin.send('PATCH', '/api/v1/admin/settings', { body: { 'jobs.max_body_bytes': value } });
    await set('1024');
    assert.equal((await upload(zipArchive(filesOf(directory)))).status, 413);
    const many = Array.from({ length: 20 }, (_, n) => ({ name: `storage/a/b/${n}`, bytes: Buffer.alloc(1000) }));
    const bomb = zipArchive([{ name: 'data.db', bytes: Buffer.alloc(100_000) }, ...many.slice(0, 2)]);
    assert.ok(bomb.length < 1024);
    assert.match(textAt(await until(await start(bomb), 'failed'), 'error'), /holds more than 1 MiB/);
    await set('');
  });

  test('a plan waits, a confirmation runs it, and the report says what came [move §5.2]', async () => {
    const move = await start(zipArchive(filesOf(directory), { is64: true }));
    const planned = await until(move, 'planned');
    assert.equal(at(planned, 'plan.collections.0.created'), 3);
    const locked = listAt(planned, 'plan.rules').filter((rule) => at(rule, 'result') === 'locked');
    assert.deepEqual(
      locked.map((rule) => at(rule, 'from')),
      ['strftime("%Y", created) = "2025"'],
    );
    assert.equal((await admin.get('/api/v1/collections/notes')).status, 404, 'a plan writes nothing');
    assert.equal((await upload(zipArchive([]))).status, 409, 'one move at a time');
    assert.equal((await command(move, 'confirm')).status, 200);
    const done = await until(move, 'done');
    assert.equal(at(done, 'report.collections.0.created'), 3);
    assert.equal(at(done, 'report.collections.0.files'), 1);
    assert.equal((await command(move, 'confirm')).status, 409);
    assert.equal((await command(move, 'cancel')).status, 409);
    const file = await stack.guest.get(`/api/v1/files/notes/${id('one')}/a_1234567890.txt`);
    assert.deepEqual([file.status, file.text], [200, 'bytes of a']);
    const page = await admin.get(`${path}/${textAt(move, 'id')}/report`);
    assert.match(page.text, /strftime/);
    assert.match(String(page.headers['content-disposition']), /attachment; filename="pocketbase-.*\.html"/);
  });

  test('the archive, what was unpacked, and the key go when a move is over [move §5.4]', async () => {
    const folders = ['moves', 'backups/moves'].map((name) => join(dataDirectory, name));
    await eventually('nothing is left', () => {
      for (const folder of folders)
        assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], [], relative(dataDirectory, folder));
      return true;
    });
    const { json } = await admin.get('/api/v1/admin/keys');
    assert.deepEqual(listAt(json, 'data'), []);
  });

  test('only one move exists at a time, and a cancelled one makes room [move §5.2]', async () => {
    const move = await start(zipArchive(filesOf(directory)), `?map=${encodeURIComponent('{"notes":"memos"}')}`);
    await until(move, 'planned');
    assert.equal((await command(move, 'cancel')).status, 200);
    data.database.exec(`update notes set title = 'x'`);
    const again = await start(zipArchive(filesOf(directory)));
    assert.match(textAt(await until(again, 'failed'), 'error'), /has a collection notes already.*`only`.*`map`\.$/);
  });

  test('views and sessions are left out where the query says so [move §5.1]', async () => {
    const options = { authToken: { secret: 's'.repeat(50), duration: 604_800 } };
    data.define({ id: 'pbc_people', name: 'people', type: 'auth', fields: [], options });
    data.insert('people', { id: id('eva'), email: 'eva@example.com', tokenKey: 'k'.repeat(50), ...times });
    const viewQuery = 'select id, email from people';
    data.define({ id: 'pbc_names', name: 'names', type: 'view', fields: [], options: { viewQuery } });
    for (const wrong of ['?views=all', '?sessions=some'])
      assert.equal((await upload(zipArchive(filesOf(directory)), wrong)).status, 400, wrong);
    const query = '?only=people,names&views=skip&sessions=end';
    const move = await start(zipArchive(filesOf(directory)), query);
    const planned = await until(move, 'planned');
    assert.match(JSON.stringify(at(planned, 'plan.notes')), /the view \(--views skip\)/);
    await command(move, 'confirm');
    const done = await until(move, 'done');
    const [people] = listAt(done, 'report.collections');
    assert.deepEqual([at(people, 'to'), at(people, 'created'), at(people, 'sessions_kept')], ['people', 1, 0]);
    assert.equal((await admin.get('/api/v1/collections/names')).status, 404);
  });
});
