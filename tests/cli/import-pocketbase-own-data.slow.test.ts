import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, test } from 'node:test';
import { at, listAt, textAt } from '../harness/json.ts';
import { createMoveFolder, startTarget } from '../harness/pocketbase/move.ts';
import { copyFromCache, findOwnData } from '../harness/pocketbase/own-data.ts';

interface Field {
  readonly name: string;
  readonly type: string;
  readonly maxSelect?: number;
}

type Row = Readonly<Record<string, unknown>>;

const found = await findOwnData();

/** The password of every account in the data. */
const password = '1234567890';

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

const digestOf = (directory: string): string => {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return sha256(
    names
      .sort()
      .map((name) => `${name} ${sha256(readFileSync(name))}`)
      .join('\n'),
  );
};

const listOf = (value: unknown): string[] => {
  const text = String(value ?? '');
  if (text === '') return [];
  return text.startsWith('[') ? (JSON.parse(text) as string[]) : [text];
};

const secondsOf = (value: unknown): number | null =>
  value ? Math.floor(Date.parse(String(value).replace(' ', 'T')) / 1000) : null;

/** What a stored value is here. */
function valueHere({ type, maxSelect = 1 }: Field, value: unknown): unknown {
  switch (type) {
    case 'number':
      return Number(value ?? 0);
    case 'bool':
      return Boolean(value);
    case 'date':
    case 'autodate':
      return secondsOf(value);
    case 'json':
      return value === null || value === '' ? null : JSON.parse(String(value));
    case 'geoPoint': {
      const { lat, lon } = JSON.parse(String(value)) as { readonly lat: number; readonly lon: number };
      return lat === 0 && lon === 0 ? null : { lat, lng: lon };
    }
    case 'select':
    case 'relation':
    case 'file':
      return maxSelect > 1 ? listOf(value) : (listOf(value)[0] ?? null);
    default:
      return String(value ?? '');
  }
}

suite("the data directory of PocketBase's own tests", { skip: 'missing' in found && found.missing }, async () => {
  if (!('directory' in found)) return;
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const folder = createMoveFolder(tidying);
  await copyFromCache(found.directory, join(folder, 'pb_data'));
  const before = digestOf(join(folder, 'pb_data'));
  const { directory, stack, admin, token, move } = await startTarget(tidying, folder);
  const headers = { authorization: `Bearer ${token}` };
  const moved = await move();
  assert.equal(moved.code, 0, moved.stderr || JSON.stringify(moved.json));
  assert.equal(digestOf(directory), before, 'the source is as it was');
  // Opened from another copy: a reader writes beside a database.
  const copy = join(folder, 'copy');
  await copyFromCache(found.directory, copy);
  const database = new DatabaseSync(join(copy, 'data.db'));
  tidying.defer(async () => database.close());
  const collections = database
    .prepare("select id, name, type, fields from _collections where name not like '\\_%' escape '\\' order by name")
    .all()
    .map(({ id, name, type, fields }) => ({
      ...{ id: String(id), name: String(name), type: String(type) },
      fields: JSON.parse(String(fields)) as Field[],
    }));
  const stored = collections.filter(({ type }) => type !== 'view');
  const rowsOf = (name: string): Row[] => database.prepare(`select * from "${name}"`).all();
  const report = moved.json;

  // As in PocketBase: one collection has passwords off, and one asks for a mailed code after a right password.
  const asked: Readonly<Record<string, string>> = { nologin: 'feature_disabled', users: 'mail_not_configured' };

  for (const { id, name, type, fields } of stored)
    test(`${name} has every record, value and file`, async () => {
      for (const row of rowsOf(name)) {
        const answer = await admin.get(`/api/v1/records/${name}/${String(row.id)}`);
        assert.equal(answer.status, 200, `${name}/${String(row.id)}: ${answer.text}`);
        const record = at(answer.json, 'data');
        for (const field of fields) {
          if (field.type === 'password' || field.name === 'tokenKey') continue;
          assert.deepEqual(
            at(record, field.name),
            valueHere(field, row[field.name]),
            `${String(row.id)}.${field.name}`,
          );
          if (field.type !== 'file') continue;
          for (const file of listOf(row[field.name])) {
            const path = join(directory, 'storage', id, String(row.id), file);
            const got = await fetch(`${stack.url}/api/v1/files/${name}/${String(row.id)}/${file}`, { headers });
            assert.equal(got.status, existsSync(path) ? 200 : 404, file);
            const bytes = Buffer.from(await got.arrayBuffer());
            if (existsSync(path)) assert.equal(sha256(bytes), sha256(readFileSync(path)), file);
          }
        }
        if (type !== 'auth') continue;
        const login = { identity: String(row.email), password };
        const signedIn = await stack.guest.send('POST', `/api/v1/auth/${name}/login`, { body: login });
        const expected = name === 'clients' && !row.verified ? 'sign_in_refused' : (asked[name] ?? 200);
        assert.equal(at(signedIn.json, 'code') ?? signedIn.status, expected, `${name} ${String(row.email)}`);
      }
      const listed = await admin.get(`/api/v1/records/${name}?perPage=1`);
      assert.equal(at(listed.json, 'totalItems'), rowsOf(name).length);
    });

  test('every link to a provider is there', async () => {
    for (const { collectionRef, recordRef, provider } of rowsOf('_externalAuths')) {
      const { name = '' } = collections.find(({ id }) => id === collectionRef) ?? {};
      const user = await admin.get(`/api/v1/admin/users/${name}/${String(recordRef)}`);
      const providers = listAt(user.json, 'data.links').map((link) => textAt(link, 'provider'));
      assert.ok(providers.includes(String(provider)), `${String(recordRef)}: ${String(provider)}`);
    }
  });

  test('every view is there, or in the report with the reason', async () => {
    for (const { name } of collections.filter(({ type }) => type === 'view')) {
      const left = listAt(report, 'notes').find(
        (note) => at(note, 'collection') === name && at(note, 'kind') === 'left_out',
      );
      const { status } = await admin.get(`/api/v1/records/${name}`);
      assert.equal(status, left ? 404 : 200, name);
    }
  });

  test('another run has nothing to do', async () => {
    const again = await move('--dry-run');
    assert.equal(again.code, 0, JSON.stringify(again.json));
  });
});
