import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { zipArchive } from '../harness/clients/zip-archive.ts';
import { eventually, Hopeless } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { createPocketBaseData } from '../harness/pocketbase/data.ts';
import { endChild } from '../harness/processes/child.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const path = '/api/v1/admin/import/pocketbase';
const rows = 12_000;
const files = 300;

/** A backup with enough records and files for a run that lasts some seconds. */
function makeBackup(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-backup-'));
  try {
    const data = createPocketBaseData(directory);
    const fields = [
      { name: 'n', type: 'number' },
      { name: 'file', type: 'file', maxSelect: 1 },
    ];
    data.define({ id: 'pbc_rows', name: 'rows', fields, rules: { list: '', view: '' } });
    data.database.exec('begin');
    for (let n = 0; n < rows; n += 1) {
      const id = `row${n}`.padEnd(15, 'x');
      const file = n < files ? `a_1234567${n}.txt` : '';
      data.insert('rows', { id, n, file, created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' });
      if (file !== '') data.store('pbc_rows', id, file, `bytes of ${n}`);
    }
    data.database.exec('commit');
    data.close();
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    const stored = names.filter((name) => statSync(join(directory, name)).isFile() && !name.endsWith('-shm'));
    return zipArchive(stored.map((name) => ({ name, bytes: readFileSync(join(directory, name)) })));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

for (const [place, forgets] of [
  ['at the same place', false],
  ['by a replica that has nothing of it', true],
] as const)
  test(`a move that is killed is continued ${place}, and each record and file is there once [move §5.2]`, async () => {
    await using ground = await createGround();
    let stack = await startStack({ topology: 'one', ground });
    try {
      const admin = await stack.admin();
      const sent = await admin.send('POST', path, {
        rawBody: makeBackup(),
        headers: { 'content-type': 'application/zip' },
      });
      const one = `${path}/${textAt(sent.json, 'data.id')}`;
      const until = (client: typeof admin, state: string) =>
        eventually(`the move is ${state}`, async () => {
          const { json } = await client.get(one);
          if (at(json, 'data.state') === state) return json;
          if (at(json, 'data.finished') !== null) throw new Hopeless(JSON.stringify(json));
          return undefined;
        });
      await until(admin, 'planned');
      await admin.post(`${one}/confirm`, {}, 200);
      await eventually(
        'the collection is there',
        async () => (await admin.get('/api/v1/rows?perPage=1')).status === 200,
      );
      await endChild(stack.process, 'SIGKILL');
      const folder = join(ground.dataDirectory, 'moves');
      assert.notDeepEqual(readdirSync(folder), [], 'the kill came before the end');
      if (forgets) rmSync(folder, { recursive: true });

      stack = await startStack({ topology: 'one', ground });
      const again = await stack.admin();
      const done = await until(again, 'done');
      assert.equal(at(done, 'data.report.collections.0.refused'), 0);
      const sum = await again.get('/api/v1/rows/aggregate?sum=n&count=1');
      assert.deepEqual([at(sum.json, 'data.0.sum_n'), at(sum.json, 'data.0.count')], [(rows * (rows - 1)) / 2, rows]);
      for (const n of [0, files - 1]) {
        const file = `/api/v1/files/rows/${`row${n}`.padEnd(15, 'x')}/a_1234567${n}.txt`;
        assert.equal((await again.get(file)).text, `bytes of ${n}`);
      }
      await eventually('nothing is left', async () => {
        const { json } = await again.get('/api/v1/admin/keys');
        assert.deepEqual(listAt(json, 'data'), []);
        for (const left of [folder, join(ground.dataDirectory, 'backups/moves')])
          assert.deepEqual(existsSync(left) ? readdirSync(left) : [], []);
        return true;
      });
    } finally {
      await stack.stop();
    }
  });
