import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tableOf } from '@recordbus/schema';
import { type FileKey, fileKey, idsStartOf } from '@recordbus/storage';
import { eventually } from '@recordbus/testing';
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
    // The announcements for a create with this title are gone, like those for an upload that took too long. The other
    // one loses its connection.
    for (const text of [
      `create function interfere() returns trigger language plpgsql as $$ begin
        if new.title = 'late' then delete from system.file_removals where record_id = new.id;
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
  const announced = async () =>
    (await records.database.query({ text: 'select from system.file_removals', values: [] })).length;
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

  it("stores their names in their parts' order [files §3.1]", async () => {
    const { text, record } = await create('ordered', ['a.txt', 'long.txt', 'b.txt', 'long-2.txt']);
    assert.match(String(record?.scans), /^a_\w+\.txt,long_\w+\.txt,b_\w+\.txt,long_2_\w+\.txt$/, text);
  });

  it('takes a form without files', async () => {
    assert.deepEqual([(await create('none', [])).status, await announced()], [201, 0]);
  });

  for (const [about, title, filenames, status, code] of [
    ['a file that was removed meanwhile', 'late', ['a.txt', 'late.txt'], 409, 'upload_expired'],
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

  it('has a row for each file before its bytes [files §1.2]', async () => {
    const filenames = Array.from({ length: 40 }, (_, n) => `${n}.txt`);
    const put = records.storage.put;
    const rowsAtPut: number[] = [];
    records.storage.put = async (key, bytes, options) => {
      await options?.announced;
      const values = [key.segments[1], key.segments[2]];
      const text = 'select from system.file_removals where record_id = $1 and name = $2 and due_at > now()';
      rowsAtPut.push((await records.database.query({ text, values })).length);
      return put(key, bytes, options);
    };
    try {
      assert.equal((await create('many', filenames)).status, 201);
    } finally {
      records.storage.put = put;
    }
    assert.deepEqual([rowsAtPut, await announced()], [filenames.map(() => 1), 0]);
  });

  describe('whose process died', () => {
    /** Stores a file as a killed upload would leave it, next to a record's file. */
    async function leaveFile() {
      const { record } = await create('next to it', ['a.txt']);
      const kept = fileKey(papers.id, record.id, String(record.scans)) ?? assert.fail('no key');
      const left = fileKey(papers.id, `${record.id.slice(0, -1)}x`, 'left.txt') ?? assert.fail('no key');
      await records.storage.put(left, [Buffer.from('left')]);
      return { kept, left, idsStart: idsStartOf(record.id) };
    }
    const list = (recordId: string, name: string | null, minutes: number) =>
      records.database.query({
        text: `insert into system.file_removals (collection_id, record_id, name, due_at)
          values ($1, $2, $3, now() + make_interval(mins => $4))`,
        values: [papers.id, recordId, name, minutes],
      });
    const exists = async (key: FileKey) => (await records.storage.find(key)) !== undefined;
    const ended = () => eventually(async () => (await announced()) === 0);
    /** A create that is refused starts the removals. */
    const remove = () => create('secret', ['a.txt']);

    it('loses its file after a while, and records keep theirs [files §1.2]', async () => {
      const { kept, left } = await leaveFile();
      await list(left.segments[1], left.segments[2], 1);
      await remove();
      await eventually(async () => (await announced()) === 1);
      assert.equal(await exists(left), true);
      await records.database.query({ text: 'update system.file_removals set due_at = now()', values: [] });
      await remove();
      await ended();
      assert.deepEqual([await exists(kept), await exists(left)], [true, false]);
    });

    describe('in a version that announced id ranges', () => {
      it('loses its file, and records keep theirs', async () => {
        const { kept, left, idsStart } = await leaveFile();
        await list(idsStart, '*', -1);
        await remove();
        await ended();
        assert.deepEqual([await exists(kept), await exists(left)], [true, false]);
      });

      it('keeps files that are listed already', async () => {
        const { kept, left, idsStart } = await leaveFile();
        // The record is deleted. The other file belongs to a running upload.
        await records.database.query({
          text: `delete from ${tableOf(papers)} where id = $1`,
          values: [kept.segments[1]],
        });
        await list(kept.segments[1], null, 60);
        await list(left.segments[1], left.segments[2], 60);
        await list(idsStart, '*', -1);
        await remove();
        await eventually(async () => (await announced()) === 2);
        assert.deepEqual([await exists(kept), await exists(left)], [true, true]);
      });
    });
  });
});
