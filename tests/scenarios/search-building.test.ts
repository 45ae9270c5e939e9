import assert from 'node:assert/strict';
import pg from 'pg';
import type { Client } from '../harness/clients/client.ts';
import { at, listAt } from '../harness/json.ts';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { imported, linesOf } from './import-jobs.ts';

const words = ['sea', 'ship', 'garden', 'museum', 'coffee', 'tulip', 'harbour', 'bridge', '東京', '博物館'];
const indexes = '/api/v1/admin/collections/texts/indexes';
const recordCount = 3000;
const writerCount = 4;
const writesEach = 60;

const textOf = (n: number): string =>
  [words[n % 10], words[Math.floor(n / 10) % 10], words[Math.floor(n / 100) % 10]].join(' ');

/** Changes, deletes and creates records, each writer its own, and notes in `texts` what the records then are. */
async function writeMeanwhile(client: Client, texts: Map<string, string>): Promise<void> {
  const ids = [...texts.keys()].slice(1);
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; n < writesEach; n += 1) {
      const id = ids[Math.floor((ids.length / writesEach / writerCount) * (n * writerCount + writer))] ?? '';
      const title = textOf(n * 13 + writer);
      if (n % 3 === 0) {
        await client.delete(`/api/v1/texts/${id}`);
        texts.delete(id);
      } else if (n % 3 === 1) {
        await client.patch(`/api/v1/texts/${id}`, { title });
        texts.set(id, title);
      } else texts.set((await client.create('texts', { title })).id, title);
    }
  };
  await Promise.all(Array.from({ length: writerCount }, (_, writer) => write(writer)));
}

onEachTopology('a search index is built while people write', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'texts', type: 'base', fields: [{ name: 'title', type: 'text' }] });
  const rows = Array.from({ length: recordCount }, (_, n) => ({ id: `r${n}`, title: textOf(n) }));
  await imported(admin, 'texts', { format: 'ndjson', keep: 'id' }, linesOf(rows));
  const texts = new Map(rows.map(({ id, title }) => [id, title]));

  /** Locks a record during the work: no replica can add its words, so the index is not ready. */
  const whileBuilding = async (work: () => Promise<void>): Promise<void> => {
    const lock = new pg.Client(target.databaseUrl ?? assert.fail('the stack has no database of ours'));
    await lock.connect();
    try {
      await lock.query('begin');
      await lock.query(`select from records.texts where id = 'r0' for update`);
      await work();
    } finally {
      await lock.end();
    }
  };
  const isBuilding = async () => {
    const { status, json } = await admin.get('/api/v1/texts?search=sea');
    if (status === 200) return false;
    assert.deepEqual([status, at(json, 'code')], [409, 'index_building']);
    return true;
  };
  const findsAll = async (more: readonly string[] = []) => {
    await eventuallyOnEveryReplica('the index is ready', async () => !(await isBuilding()));
    const { json } = await admin.get(indexes);
    assert.equal(listAt(json, 'data').at(-1)?.state, 'ready');
    for (const word of [...words, ...more]) {
      const { json } = await admin.get(`/api/v1/texts?search=${encodeURIComponent(word)}&perPage=1000&fields=id`);
      const found = listAt(json, 'data').map(({ id }) => id);
      const expected = [...texts].filter(([, text]) => text.includes(word)).map(([id]) => id);
      assert.deepEqual(found.sort(), expected.sort(), word);
      assert.equal(at(json, 'totalItems'), expected.length, word);
    }
  };

  await t.test('a new index has every record that was written meanwhile [search §1.6]', async () => {
    const index = { name: 'words', type: 'search', fields: [{ field: 'title' }], prefix: false };
    await whileBuilding(async () => {
      const writing = writeMeanwhile(admin, texts);
      await admin.post(indexes, index);
      await eventuallyOnEveryReplica('the index is being built', isBuilding);
      await writing;
      assert.equal(await isBuilding(), true);
    });
    await findsAll();
  });

  await t.test('a changed index is built again [search §1.7]', async () => {
    const writing = writeMeanwhile(admin, texts);
    const changed = await admin.patch(`${indexes}/words`, { language: 'cjk' });
    assert.equal(changed.state, 'building');
    await writing;
    await findsAll(['京', '物館']);
  });
});
