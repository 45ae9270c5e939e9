import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '@recordbus/database';
import { tableOf } from '@recordbus/schema';
import { eventually } from '@recordbus/shared/testing';
import { type FileKey, fileKey, idsStartOf } from '@recordbus/storage';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const boundary = 'between-the-parts';

const form = (title: string, ...filenames: readonly string[]) =>
  [
    `content-disposition: form-data; name="title"\r\n\r\n${title}`,
    ...filenames.map((name) => {
      const bytes = name.startsWith('long') ? 'x'.repeat(100_000) : 'the bytes';
      return `content-disposition: form-data; name="scans"; filename="${name}"\r\n\r\n${bytes}`;
    }),
  ]
    .map((part) => `--${boundary}\r\n${part}\r\n`)
    .join('')
    .concat(`--${boundary}--\r\n`);

describe('a create with files', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  const papers = testCollection(
    'papers',
    [
      { name: 'title', writeRule: 'title != "closed"' },
      { name: 'scans', type: 'file', options: { multiple: true } },
    ],
    { rules: { list: null, view: null, create: 'title != "secret"', update: null, delete: null } },
  );

  before(async () => {
    records = await startRecords([papers]);
    // The range of a create with this title is over, like that of an upload that took too long. The other one loses its
    // connection.
    for (const text of [
      `create function interfere() returns trigger language plpgsql as $$ begin
        if new.title = 'late' then update system.announced_ranges set is_over = true;
        elsif new.title = 'lost' then perform pg_terminate_backend(pg_backend_pid()); end if;
        return new; end $$`,
      `create trigger interfere before insert on ${tableOf(papers)} for each row execute function interfere()`,
    ])
      await records.database.query({ text, values: [] });
  });
  after(() => records?.stop());

  const create = (title: string, filenames: readonly string[], headers = {}) =>
    records.send('POST', '/api/papers', {
      body: form(title, ...filenames),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    });
  const rowsOf = async (table: string) =>
    (await records.database.query({ text: `select from system.${table}`, values: [] })).length;
  const announced = () => rowsOf('file_removals');
  const storedNames = async () => {
    const names: string[] = [];
    for await (const { segments } of records.storage.list(papers.id, '')) names.push(segments.join('/'));
    return names;
  };
  const titles = async () => (await records.send('GET', '/api/papers?sort=title')).rows.map(({ title }) => title);

  for (const [about, headers] of [
    ['in one statement', {}],
    ['with its answer', { 'x-service-idempotency-key': 'k1' }],
  ] as const)
    it(`keeps all of them (${about}) [files §1.2]`, async () => {
      const { status, text, record } = await create(about, ['a.txt', 'b.txt'], headers);
      assert.deepEqual([status, await announced()], [201, 0], text);
      const names = Array.isArray(record.scans) ? record.scans : [];
      assert.equal(names.length, 2);
      for (const name of names) {
        const key = fileKey(papers.id, record.id, name) ?? assert.fail(name);
        assert.deepEqual(await records.storage.find(key), { sizeBytes: 9 });
      }
    });

  it('stores their names in the order of their parts [files §3.1]', async () => {
    const { text, record } = await create('ordered', ['a.txt', 'long.txt', 'b.txt', 'long-2.txt']);
    assert.match(String(record?.scans), /^a_\w+\.txt,long_\w+\.txt,b_\w+\.txt,long_2_\w+\.txt$/, text);
  });

  it('takes a form without files', async () => {
    assert.deepEqual([(await create('none', [])).status, await announced()], [201, 0]);
  });

  for (const [about, title, filenames, status, code] of [
    ['a range that was over meanwhile', 'late', ['a.txt', 'late.txt'], 409, 'upload_expired'],
    ['the create rule', 'secret', ['a.txt'], 403, 'forbidden'],
    ['a write rule', 'closed', ['a.txt'], 403, 'forbidden'],
  ] as const)
    it(`writes nothing and keeps none because of ${about} [files §1.2]`, async () => {
      const before = await titles();
      const namesBefore = await storedNames();
      const answer = await create(title, filenames);
      assert.deepEqual([answer.status, answer.json.code, await titles()], [status, code, before], answer.text);
      await eventually(async () => (await storedNames()).length === namesBefore.length && (await announced()) === 0);
    });

  it('leaves no file when its connection to the database is lost [files §1.2]', async () => {
    const before = await storedNames();
    assert.equal((await create('lost', ['a.txt'])).status, 503);
    await eventually(async () => (await storedNames()).length === before.length);
    assert.ok(!(await titles()).includes('lost'));
  });

  it('shares its announcement with those whose ids have the same start', async () => {
    await eventually(async () => (await rowsOf('announced_ranges')) === 0);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => create(`${n}`, ['a.txt'])));
    const starts = new Set(answers.map(({ record }) => idsStartOf(record.id)));
    assert.ok(starts.size < 40);
    assert.equal(await rowsOf('announced_ranges'), starts.size);
    await eventually(async () => (await rowsOf('announced_ranges')) === 0);
    for (const { record } of answers) {
      const key = fileKey(papers.id, record.id, String(record.scans)) ?? assert.fail(record.id);
      assert.deepEqual(await records.storage.find(key), { sizeBytes: 9 });
    }
  });

  describe('whose process died', () => {
    /** Stores a file as an upload that was killed would leave it, next to the file of a record. */
    async function leaveFile() {
      const { record } = await create('next to it', ['a.txt']);
      const kept = fileKey(papers.id, record.id, String(record.scans)) ?? assert.fail('no key');
      const left = fileKey(papers.id, `${record.id.slice(0, -1)}x`, 'left.txt') ?? assert.fail('no key');
      await records.storage.put(left, [Buffer.from('left')]);
      return { kept, left, idsStart: idsStartOf(record.id) };
    }
    const announce = (idsStart: string, minutes: number) =>
      records.database.query({
        text: `insert into system.announced_ranges (collection_id, ids_start, due_at)
          values ($1, $2, now() + make_interval(mins => $3))`,
        values: [papers.id, idsStart, minutes],
      });
    const exists = async (key: FileKey) => (await records.storage.find(key)) !== undefined;
    const ended = () => eventually(async () => (await rowsOf('announced_ranges')) === 0);
    /** A create that is refused starts the removals. */
    const remove = () => create('secret', ['a.txt']);

    it('loses its file after a while, and records keep theirs [files §1.2]', async () => {
      const { kept, left, idsStart } = await leaveFile();
      await ended();
      await announce(idsStart, -1);
      await remove();
      await eventually(async () => !(await exists(left)));
      assert.equal(await exists(kept), true);
      await ended();
    });

    it('loses its file when its collection was dropped meanwhile', async () => {
      const key = fileKey('dropped', newId(), 'left.txt') ?? assert.fail('no key');
      await records.storage.put(key, [Buffer.from('left')]);
      await records.database.query({
        text: `insert into system.announced_ranges (collection_id, ids_start, due_at) values ('dropped', $1, now())`,
        values: [idsStartOf(key.segments[1])],
      });
      await remove();
      await eventually(async () => !(await exists(key)));
      await ended();
    });

    it('keeps it while another process has uploads to records whose ids have the same start', async () => {
      const { kept, left, idsStart } = await leaveFile();
      await ended();
      await announce(idsStart, 10);
      await announce(idsStart, -1);
      await remove();
      const over = 'select from system.announced_ranges where is_over';
      await eventually(async () => (await records.database.query({ text: over, values: [] })).length === 1);
      const listed = 'select from system.file_removals where record_id = $1';
      const values = [left.segments[1]];
      assert.deepEqual([await exists(left), await records.database.query({ text: listed, values })], [true, []]);
      await records.database.query({
        text: 'update system.announced_ranges set due_at = now() where ids_start = $1',
        values: [idsStart],
      });
      await remove();
      await eventually(async () => !(await exists(left)));
      assert.equal(await exists(kept), true);
      await ended();
    });

    it('is no reason to remove files that are listed already', async () => {
      const { kept, left, idsStart } = await leaveFile();
      await ended();
      // The record is deleted. The other file is of a running upload that has a row of its own.
      await records.database.query({
        text: `delete from ${tableOf(papers)} where id = $1`,
        values: [kept.segments[1]],
      });
      const rows = [
        [kept.segments[1], null],
        [left.segments[1], left.segments[2]],
      ];
      for (const row of rows)
        await records.database.query({
          text: `insert into system.file_removals (collection_id, record_id, name, due_at)
            values ($1, $2, $3, now() + interval '1 hour')`,
          values: [papers.id, ...row],
        });
      await announce(idsStart, -1);
      await remove();
      await ended();
      const listed = await records.database.query<{ record_id: string; name: string | null }>({
        text: 'select record_id, name from system.file_removals where record_id = any($1) order by name nulls first',
        values: [rows.map(([recordId]) => recordId)],
      });
      assert.deepEqual(
        listed.map(({ record_id, name }) => [record_id, name]),
        rows,
      );
      assert.deepEqual([await exists(kept), await exists(left)], [true, true]);
    });
  });
});
