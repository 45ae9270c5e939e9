import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import type { Answer, Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { define, rowsOf, text } from './history-rows.ts';

const number = (name: string) => ({ name, type: 'number' });
const etagOf = ({ headers }: Answer): string => String(headers.etag);
const versionOf = (answer: Answer): string => etagOf(answer).slice(3, -1);
const updatedOf = ({ json }: Answer): number => numberAt(objectAt(json, 'data'), 'updated');

/** Writes until two writes fall within one second. Returns their answers. */
async function writeTwiceInASecond(client: Client, path: string): Promise<readonly [Answer, Answer]> {
  return eventually('two writes in one second', async () => {
    const first = await client.send('PATCH', path, { body: { n: 1 } });
    const second = await client.send('PATCH', path, { body: { n: 2 } });
    return updatedOf(first) === updatedOf(second) ? ([first, second] as const) : undefined;
  });
}

onEachTopology('each write creates a new version', async (t, target) => {
  const { guest } = target;
  const root = await target.admin();
  await define(root, 'counters', [number('n'), text('title')]);
  await root.post('/api/v1/collections', {
    name: 'shown_counters',
    type: 'view',
    view_query: 'select * from counters',
    view_rule: null,
  });
  const { id } = await guest.create('counters', { n: 0 });
  const path = `/api/v1/counters/${id}`;

  await t.test("the ETag is the write's second and its count within the second [records §8.1]", async () => {
    const [first, second] = await writeTwiceInASecond(guest, path);
    assert.ok(is.etag.fits(etagOf(first)) && is.etag.fits(etagOf(second)));
    const [at = '', revision = '0'] = versionOf(first).split('.');
    assert.equal(versionOf(second), `${at}.${Number(revision) + 1}`);
    assert.equal(Number(at), updatedOf(first));
    assert.deepEqual(Object.keys(objectAt(second.json, 'data')), ['id', 'n', 'title', 'created', 'updated']);
  });

  await t.test('two versions in one second have different ETags [records §9.3]', async () => {
    const [first, second] = await writeTwiceInASecond(guest, path);
    const known = (etag: string) => guest.send('GET', path, { headers: { 'If-None-Match': etag } });
    assert.deepEqual([(await known(etagOf(first))).status, (await known(etagOf(second))).status], [200, 304]);
    assert.equal(etagOf(await guest.get(path)), etagOf(second));
  });

  await t.test(
    'a write to an earlier version in the same second is 412 with the current one [records §9.1]',
    async () => {
      const [first, second] = await writeTwiceInASecond(guest, path);
      for (const method of ['PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? { body: { n: 3 } } : {};
        const refused = await guest.send(method, path, { ...body, headers: { 'If-Match': etagOf(first) } });
        assert.deepEqual([refused.status, etagOf(refused)], [412, etagOf(second)]);
        assert.equal(textAt(refused.json, 'details.etag'), etagOf(second));
      }
    },
  );

  await t.test('a hundred writes have a hundred versions, none ahead of the clock [records §8.1]', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const answer = await guest.send('PATCH', path, { body: { n } });
        return { answer, clockSec: Math.floor(Date.now() / 1000) };
      }),
    );
    assert.equal(new Set(answers.map(({ answer }) => etagOf(answer))).size, 100);
    for (const { answer, clockSec } of answers) assert.ok(updatedOf(answer) <= clockSec, answer.text);
  });

  await t.test('a version is new even after the clock was set back [records §8.2]', async () => {
    if (target.databaseUrl === undefined) return;
    // History would refuse a second version in this second.
    await root.post('/api/v1/collections', { name: 'clocks', type: 'base', fields: [number('n')] });
    const one = `/api/v1/clocks/${(await guest.create('clocks', { n: 0 })).id}`;
    const patch = (n: number) => guest.send('PATCH', one, { body: { n } });
    await inDatabase(target, 'update records.clocks set updated_at = extract(epoch from now())::bigint + 3600', []);
    const versions = [versionOf(await patch(1)), versionOf(await patch(2)), versionOf(await patch(3))];
    const [at] = versions[0]?.split('.') ?? [];
    assert.ok(Number(at) > Date.now() / 1000 + 3000);
    assert.deepEqual(versions, [`${at}.1`, `${at}.2`, `${at}.3`]);
    await inDatabase(target, 'update records.clocks set updated_at = 5, _revision = 7', []);
    const back = await patch(4);
    assert.equal(versionOf(back), `${updatedOf(back)}`, 'the first write in a second has no number');
  });

  await t.test('a strong tag and a tag in a list name a version too [records §9.2]', async () => {
    for (const tagOf of [(version: string) => `"${version}"`, (version: string) => `"x", W/"${version}"`]) {
      const tag = tagOf(versionOf(await guest.get(path)));
      assert.equal((await guest.send('PATCH', path, { body: {}, headers: { 'If-Match': tag } })).status, 200, tag);
    }
  });

  await t.test('when several update or delete one version at once, one succeeds [records §9.1]', async () => {
    const made = await guest.send('POST', '/api/v1/counters', { body: { n: 0 } });
    const one = `/api/v1/counters/${textAt(made.json, 'data.id')}`;
    const headers = { 'If-Match': etagOf(made) };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        n % 2 ? guest.send('DELETE', one, { headers }) : guest.send('PATCH', one, { body: { n }, headers }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.ok(
      statuses.every((status) => [200, 404, 412].includes(status)),
      String(statuses),
    );
  });

  await t.test('when 50 write to one version at once, one succeeds [records §9.1]', async () => {
    const [, { headers }] = await writeTwiceInASecond(guest, path);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        guest.send('PATCH', path, { body: { n }, headers: { 'If-Match': String(headers.etag) } }),
      ),
    );
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    assert.ok(winner);
    assert.deepEqual([winner.status, ...new Set(others.map(({ status }) => status))], [200, 412]);
    assert.ok(others.every((answer) => etagOf(answer) === etagOf(winner)));
  });

  await t.test('history, restores and events name the versions [history §2.1, events §2.5]', async () => {
    await using bus =
      target.natsUrl === undefined ? undefined : await openBusReader(target.natsUrl, { isFromNow: true });
    const fresh = await guest.send('POST', '/api/v1/counters', { body: { n: 0, title: 'zero' } });
    const other = `/api/v1/counters/${objectAt(fresh.json, 'data').id}`;
    const written = [fresh, ...(await writeTwiceInASecond(guest, other))];
    await guest.delete(other);
    const rows = await rowsOf(guest, other);
    const versions = rows.map((row) => textAt(row, 'version'));
    assert.equal(new Set(versions).size, rows.length);
    for (const answer of written) {
      const row = rows.find(({ version }) => version === versionOf(answer));
      assert.deepEqual(row?.snapshot, objectAt(answer.json, 'data'));
      assert.equal(numberAt(row, 'at'), updatedOf(answer));
    }
    const eventsOf = () =>
      bus?.events.flatMap(({ body }) =>
        String(body.event).startsWith('counters.') && textAt(body, 'data.record.id') === other.split('/').at(-1)
          ? [body.version]
          : [],
      );
    if (bus)
      await eventually('the events are published', () => {
        assert.deepEqual(eventsOf()?.toReversed(), versions);
        return true;
      });
  });

  await t.test("restore takes a second's last version, or the named one [history §5.1]", async () => {
    const [first, second] = await writeTwiceInASecond(guest, path);
    const restore = (query: string) => root.send('POST', `${path}/restore?${query}`);
    const named = await restore(`version=${versionOf(first)}`);
    assert.deepEqual([named.status, objectAt(named.json, 'data').n], [200, 1]);
    // Later writes may fall within the same second: that second's last row applies.
    const last = (await rowsOf(guest, path)).find(({ at }) => at === updatedOf(second));
    const timed = await restore(`at=${updatedOf(second)}`);
    assert.equal(objectAt(timed.json, 'data').n, numberAt(last, 'snapshot.n'));
    assert.notEqual(etagOf(timed), etagOf(named));
  });

  await t.test("a view row's ETag never matches an earlier row in its second [records §8.3]", async () => {
    const shown = `/api/v1/shown_counters/${id}`;
    await eventually('the view has the record', async () => (await guest.get(shown)).status === 200);
    await guest.patch(path, { n: 1 });
    const before = await guest.get(shown);
    const known = { headers: { 'If-None-Match': etagOf(before) } };
    assert.equal((await guest.send('GET', shown, known)).status, 304);
    await guest.patch(path, { n: 2 });
    const after = await guest.send('GET', shown, known);
    assert.deepEqual([after.status, objectAt(after.json, 'data').n], [200, 2]);
    assert.deepEqual(Object.keys(objectAt(after.json, 'data')), ['id', 'n', 'title', 'created', 'updated']);
  });
});
