import assert from 'node:assert/strict';
import { type BusEvent, openBusReader } from '../harness/clients/bus-reader.ts';
import type { Answer } from '../harness/clients/client.ts';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { fileField, upload } from './file-forms.ts';
import { define, relation, rowsOf, text } from './history-rows.ts';

const dataOf = ({ json }: Answer) => objectAt(json, 'data');
const versionOf = ({ headers }: Answer): string => String(headers.etag).slice(3, -1);
const far = 9_999_999_999;

onEachTopology('an admin restores a deleted record', async (t, target) => {
  const root = await target.admin();
  const { guest } = target;
  const secret = { name: 'secret', type: 'text', options: { encrypted: true } };
  const pin = { name: 'pin', type: 'password', required: true };
  await define(root, 'owners', [text('name')]);
  await define(root, 'things', [text('title'), text('slug', { unique: true }), secret, relation('owner', 'owners')]);
  await define(root, 'locked', [pin, text('note')]);
  await define(root, 'parts', [relation('thing', 'things', 'cascade')]);
  const restore = (path: string, query = `at=${far}&deleted=1`, headers = {}) =>
    root.send('POST', `${path}/restore?${query}`, { headers });
  const createDeleted = async (body: object): Promise<string> => {
    const path = `/api/v1/things/${(await guest.create('things', body)).id}`;
    await guest.delete(path);
    return path;
  };

  const plain = await createDeleted({ title: 'plain' });
  const taken = await createDeleted({ title: 'taken', slug: 'mine' });
  await guest.create('things', { slug: 'mine' });
  const owner = await guest.create('owners', { name: 'Ada' });
  const orphan = await createDeleted({ owner: owner.id });
  await guest.delete(`/api/v1/owners/${owner.id}`);
  const living = `/api/v1/things/${(await guest.create('things', { title: 'living' })).id}`;
  const row = (
    name: string,
    path: string,
    query: string,
    expect: Scenario['expect'],
    more: Partial<Scenario> = {},
  ): Scenario => ({
    name,
    as: 'admin',
    request: `POST ${path}/restore?${query}`,
    expect,
    spec: 'history §6.1',
    ...more,
  });
  await runScenarios(t, target, [
    row('a guest', plain, `at=${far}&deleted=1`, refused.unauthenticated, { as: 'guest' }),
    row('a user', plain, `at=${far}&deleted=1`, refused.forbidden, { as: 'user' }),
    row('a deleted record without deleted=1', plain, `at=${far}`, refused.conflict),
    row('a deleted record with deleted=0', plain, `at=${far}&deleted=0`, refused.conflict),
    row('deleted=yes', plain, `at=${far}&deleted=yes`, refused.malformedWith({ deleted: is.text })),
    row('a time before the first version', plain, 'at=1&deleted=1', refused.notFound),
    row('an unknown version', plain, 'version=1.1&deleted=1', refused.notFound),
    row('an unknown record', `/api/v1/things/${unknownId}`, `at=${far}&deleted=1`, refused.notFound),
    row('a taken unique value', taken, `at=${far}&deleted=1`, refused.invalid('slug')),
    row('a relation to a deleted record', orphan, `at=${far}&deleted=1`, refused.invalid('owner')),
    row(
      'an If-Match with another version',
      plain,
      `at=${far}&deleted=1`,
      { status: 412 },
      { headers: { 'If-Match': '"1"' } },
    ),
    row(
      'a record that exists',
      living,
      `at=${far}&deleted=1`,
      { status: 200 },
      {
        events: ['things.update'],
      },
    ),
    row('a deleted record', plain, `at=${far}&deleted=1`, { status: 201 }, { events: ['things.create'] }),
  ]);

  await t.test('it has its id, its values, its creation time and a new version [history §6.1, §6.2]', async () => {
    const first = await guest.send('POST', '/api/v1/things', { body: { title: 'v1', secret: 'sealed' } });
    const path = `/api/v1/things/${dataOf(first).id}`;
    const second = await guest.send('PATCH', path, { body: { title: 'v2' } });
    const part = await guest.create('parts', { thing: dataOf(first).id });
    for (let round = 0; round < 3; round += 1) {
      await guest.delete(path);
      const answer = await restore(path, round === 1 ? `version=${versionOf(first)}&deleted=1` : undefined);
      assert.equal(answer.status, 201, answer.text);
      const { updated, ...shown } = dataOf(answer);
      const { updated: _, ...expected } = dataOf(round === 0 ? second : first);
      assert.deepEqual(shown, expected);
      assert.ok(numberAt(answer.json, 'data.updated') <= Math.floor(Date.now() / 1000));
      assert.deepEqual((await guest.get(path)).json, answer.json);
      const [row] = await rowsOf(root, path);
      assert.deepEqual([row?.op, row?.version, row?.at], ['create', versionOf(answer), updated]);
    }
    const versions = (await rowsOf(root, path)).map((row) => textAt(row, 'version'));
    assert.equal(versions.length, 8);
    assert.equal(new Set(versions).size, 8);
    assert.equal((await guest.get(`/api/v1/parts/${part.id}`)).status, 404, 'the cascade set stays deleted');
    const totalItems = numberAt((await guest.get('/api/v1/things?perPage=1')).json, 'totalItems');
    const counted = await guest.get(`/api/v1/things?perPage=1&filter=${encodeURIComponent('id != ""')}`);
    assert.equal(totalItems, numberAt(counted.json, 'totalItems'));
  });

  await t.test('the event has the version [events §2.5]', async () => {
    if (target.natsUrl === undefined) return;
    await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
    const path = await createDeleted({ title: 'event' });
    const answer = await restore(path);
    const isOfRecord = ({ body }: BusEvent) =>
      body.event === 'things.create' && objectAt(body, 'data.record').id === dataOf(answer).id;
    const [, again] = await eventually('both creates are published', () => {
      const creates = bus.events.filter(isOfRecord);
      return creates.length === 2 && creates;
    });
    assert.equal(again?.body.version, versionOf(answer));
  });

  await t.test('among several parallel requests, one creates the record [history §6.1]', async () => {
    const path = await createDeleted({ title: 'raced' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => restore(path)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 201]);
    assert.equal(new Set(answers.map(versionOf)).size, 5);
  });

  await t.test('requests with one idempotency key restore once [records §14.3]', async () => {
    const path = await createDeleted({ title: 'once' });
    const sent = { 'Idempotency-Key': path };
    const [first, again] = [await restore(path, undefined, sent), await restore(path, undefined, sent)];
    assert.deepEqual([first.status, again.status, again.headers['idempotency-replayed']], [201, 201, 'true']);
    assert.deepEqual([again.text, again.headers.etag], [first.text, first.headers.etag]);
  });

  await t.test("If-Match names the delete's version [history §6.1]", async () => {
    const path = await createDeleted({ title: 'matched' });
    const [end] = await rowsOf(root, path);
    assert.equal((await restore(path, undefined, { 'If-Match': `W/"${end?.version}"` })).status, 201);
  });

  await t.test(
    'a record that was deleted while history was disabled is restored to its last version [history §1.2]',
    async () => {
      const { id } = await guest.create('things', { title: 'unseen' });
      const path = `/api/v1/things/${id}`;
      await root.patch('/api/v1/collections/things', { history_enabled: false });
      await eventually('history is disabled', async () => (await guest.get(`${path}/history`)).status === 404);
      const unseen = await guest.send('PATCH', path, { body: { title: 'unseen too' } });
      await guest.delete(path);
      await root.patch('/api/v1/collections/things', { history_enabled: true });
      const answer = await eventually('history is enabled again', async () => {
        const attempt = await restore(path);
        return attempt.status === 201 ? attempt : undefined;
      });
      assert.equal(dataOf(answer).title, 'unseen');
      assert.ok(numberAt(answer.json, 'data.updated') > numberAt(unseen.json, 'data.updated'));
    },
  );

  await t.test('a required password is empty after a restore [history §6.3]', async () => {
    const { id } = await guest.create('locked', { pin: 'opens it', note: 'x' });
    const path = `/api/v1/locked/${id}`;
    await guest.delete(path);
    assert.equal((await restore(path)).status, 201);
    assert.equal((await guest.patch(path, { note: 'y' })).note, 'y');
  });
});

onEachTopology('a restored account cannot sign in', async (t, target) => {
  const root = await target.admin();
  const { guest } = target;
  const name = 'returning';
  await root.post('/api/v1/collections', { name, type: 'auth', fields: [text('nick')], history_enabled: true });
  const account = { email: 'back@example.com', password: 'a long and winding password' };
  const made = await root.create(name, { ...account, nick: 'B', verified: true });
  const login = (body: object = account) => guest.send('POST', `/api/v1/auth/${name}/login`, { body });
  const token = textAt((await login()).json, 'data.token');
  const before = createClient(target.url, token);
  const path = `/api/v1/${name}/${made.id}`;
  await root.delete(path);
  const answer = await root.send('POST', `${path}/restore?at=${far}&deleted=1`);
  await t.test('it has its fields and its verified address [history §6.3]', () => {
    assert.equal(answer.status, 201, answer.text);
    const { updated: _, ...shown } = dataOf(answer);
    const { updated: __, ...expected } = made;
    assert.deepEqual(shown, expected);
  });
  await t.test('it has neither password nor sessions [history §6.3]', async () => {
    assert.equal((await login()).status, 401);
    assert.equal((await before.get('/api/v1/auth/returning/sessions')).status, 401);
  });
  await t.test('a password that an admin sets signs it in', async () => {
    const password = 'another long password';
    await root.patch(path, { password });
    assert.equal((await login({ ...account, password })).status, 200);
    assert.equal((await before.get('/api/v1/auth/returning/sessions')).status, 401);
  });
});

onEachTopology('a restored record has no files', async (t, target) => {
  const root = await target.admin();
  const { guest } = target;
  const fields = [fileField('one', { maxSize: 1000 }), fileField('many', { multiple: true }), text('title')];
  await define(root, 'folders', [{ ...fields[0], required: true }, ...fields.slice(1)]);
  const file = (name: string, filename: string) => ({ name, filename, content: filename });
  const made = await upload(guest, '/api/v1/folders', file('one', 'a.txt'), file('many', 'b.txt'));
  const path = `/api/v1/folders/${made.id}`;
  const statusOf = async (name: unknown) => (await guest.get(`/api/files/folders/${made.id}/${name}`)).status;
  await guest.delete(path);
  await eventually('the content is gone', async () => (await statusOf(made.one)) === 404);
  // The answer is 404 as soon as the record is gone, and the bytes go later.
  if (target.databaseUrl !== undefined)
    await eventually('its bytes are gone', async () => {
      const due = 'select from system.file_removals where record_id = $1';
      return (await inDatabase(target, due, [made.id])).length === 0;
    });
  await t.test('its file fields are empty [history §6.3]', async () => {
    const answer = await root.send('POST', `${path}/restore?at=${far}&deleted=1`);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual([dataOf(answer).one, dataOf(answer).many], [null, []]);
  });
  await t.test('files that are uploaded afterwards stay', async () => {
    await guest.delete(path);
    // Immediately, when its files may not yet be going.
    const answer = await root.send('POST', `${path}/restore?at=${far}&deleted=1`);
    const uploaded = await upload(guest, path, file('one', 'c.txt'));
    const other = await upload(guest, '/api/v1/folders', file('one', 'd.txt'));
    await guest.delete(`/api/v1/folders/${other.id}`);
    await eventually(
      'a later removal has run',
      async () => (await guest.get(`/api/files/folders/${other.id}/${other.one}`)).status === 404,
    );
    assert.equal(answer.status, 201, answer.text);
    assert.equal(await statusOf(uploaded.one), 200);
  });
});
