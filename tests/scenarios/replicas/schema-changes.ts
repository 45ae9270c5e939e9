import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { type JsonObject, objectAt } from '../../harness/json.ts';
import { loggedErrors } from '../../harness/processes/logs.ts';
import type { Replicas } from './start-replicas.ts';

const path = '/api/v1/collections';

/** A collection's change reaches the other replica as a whole. */
export async function schemaChanges(t: TestContext, { first, second }: Replicas): Promise<void> {
  const admin = await first.admin();
  const other = await second.admin();
  const fieldsOf = (collection: JsonObject): JsonObject[] => JSON.parse(String(collection.fields));

  const made = await admin.post(path, {
    name: 'shifting',
    type: 'base',
    fields: [
      { name: 'a0', type: 'text' },
      { name: 'b0', type: 'text' },
    ],
  });
  const [a, b] = fieldsOf(made);
  const { id } = await admin.create('shifting', { a0: 'A', b0: 'B' });
  await eventually(
    'the other replica serves it',
    async () => (await other.get(`/api/v1/shifting/${id}`)).status === 200,
  );

  await t.test('no read on either replica sees half a change', async () => {
    let isOver = false;
    const read = async (url: typeof second): Promise<Set<string>> => {
      const seen = new Set<string>();
      while (!isOver) {
        const { status, json, text } = await url.guest.get(`/api/v1/shifting/${id}`);
        assert.equal(status, 200, text);
        const { id: _id, created: _created, updated: _updated, ...fields } = objectAt(json, 'data');
        const names = Object.keys(fields).sort();
        const version = names[0]?.slice(1);
        assert.deepEqual(
          [names, fields[`a${version}`], fields[`b${version}`]],
          [[`a${version}`, `b${version}`], 'A', 'B'],
        );
        seen.add(`${version}`);
      }
      return seen;
    };
    const readers = [read(first), read(second)];
    const versions = [1, 2, 3, 4, 5, 6];
    for (const n of versions)
      await admin.patch(`${path}/shifting`, {
        fields: [
          { ...a, name: `a${n}` },
          { ...b, name: `b${n}` },
        ],
      });
    await eventually('the other replica serves the last schema', async () =>
      (await second.guest.get(`/api/v1/shifting/${id}`)).text.includes('a6'),
    );
    isOver = true;
    const seen = await Promise.all(readers);
    assert.ok(seen.every((one) => one.size > 0));
  });

  await t.test('a rule applies on the other replica', async () => {
    await admin.patch(`${path}/shifting`, { view_rule: '' });
    await eventually(
      'the other replica refuses',
      async () => (await second.guest.get(`/api/v1/shifting/${id}`)).status === 403,
    );
  });

  await t.test('the other replica follows a view, its new query and its drop', async () => {
    const view = { name: 'shown', type: 'view', list_rule: null };
    await admin.post(path, { ...view, view_query: 'select id, a6 from shifting' });
    const shows = (text: string) =>
      eventually(`the other replica shows ${text}`, async () =>
        (await second.guest.get('/api/v1/shown')).text.includes(text),
      );
    await shows('"a6":"A"');
    await other.patch(`${path}/shown`, { view_query: 'select id, b6 as changed from shifting' });
    await eventually('the first replica shows it too', async () =>
      (await first.guest.get('/api/v1/shown')).text.includes('"changed":"B"'),
    );
    await admin.delete(`${path}/shown`);
    await eventually('the view is gone', async () => (await second.guest.get('/api/v1/shown')).status === 404);
  });

  await t.test("the other replica names a new unique index's fields", async () => {
    const body = { name: 'one_of_each', columns: ['a6', 'b6'], unique: true };
    await admin.post('/api/v1/admin/collections/shifting/indexes', body);
    const { status, json } = await second.guest.send('POST', '/api/v1/shifting', { body: { a6: 'A', b6: 'B' } });
    assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['a6', 'b6']]);
  });

  await t.test('parallel changes on both replicas all take effect', async () => {
    const answers = await Promise.all(
      [admin, other].flatMap((client, replica) =>
        ['list_rule', 'create_rule', 'update_rule']
          .slice(replica, replica + 2)
          .map((rule) => client.send('PATCH', `${path}/shifting`, { body: { [rule]: `a6 = "${replica}${rule}"` } })),
      ),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const { data } = (await admin.get(`${path}/shifting`)).json as { data: JsonObject };
    assert.equal(data.list_rule, 'a6 = "0list_rule"');
    assert.equal(data.update_rule, 'a6 = "1update_rule"');
    assert.match(String(data.create_rule), /create_rule/);
  });

  await t.test('no error was logged', () => {
    assert.deepEqual(loggedErrors([...first.process.lines, ...second.process.lines]), []);
  });
}
