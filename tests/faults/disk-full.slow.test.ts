import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Answer } from '../harness/clients/client.ts';
import { file, multipart } from '../harness/clients/multipart.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { committedIds } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { callers, readiness, startProduct } from '../harness/stacks/stack.ts';

/** A small disk of its own; undefined where a process may not mount one. */
function mountDisk(): { readonly directory: string; remove(): void } | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'none', directory]);
  if (status !== 0) return void rmdirSync(directory);
  return {
    directory,
    remove() {
      spawnSync('umount', ['--lazy', directory]);
      rmdirSync(directory);
    },
  };
}

const disk = mountDisk();
const patience = { timeoutMs: 180_000 };

test('on a full disk writes are 503 with a sentence, reads go on, and nothing is lost [http §4.8]', {
  skip: !disk && 'it mounts a small disk, which only root may',
}, async (t) => {
  if (!disk) return;
  t.after(() => disk.remove());
  const product = startProduct('one', { SERVICE_DATA_DIR: join(disk.directory, 'data') });
  t.after(() => endChild(product));
  const { url, setupToken } = await readiness(product);
  const admin = await callers(url, setupToken).admin();
  await admin.post('/api/v1/collections', {
    name: 'notes',
    type: 'base',
    fields: [
      { name: 'body', type: 'text' },
      { name: 'paper', type: 'file' },
    ],
  });
  const acknowledged: string[] = [];
  /** Notes an acknowledged write, and returns any other answer. */
  function refusalOf(answer: Answer): Answer | undefined {
    if (answer.status !== 201) return answer;
    acknowledged.push(textAt(answer.json, 'data.id'));
    return undefined;
  }
  const write = async () => refusalOf(await admin.send('POST', '/api/v1/notes', { body: { body: randomText() } }));
  await write();
  await fillLogSegment(disk.directory, write);
  await using receiver = await startReceiver();
  await createWebhook(admin, receiver.url, ['notes.create']);
  const unannounced = [...acknowledged];

  const ballast = join(disk.directory, 'ballast');
  // The database may write a little more, so that the disk is full in the middle of a write.
  leaveRoom(ballast, 3_000_000);
  const refused = await eventually('a write is refused', write, { intervalMs: 0 });
  assert.deepEqual(
    [refused.status, refused.headers['retry-after'], refused.text],
    [503, '1', `{"error":"the database's disk is full","code":"unavailable"}`],
  );
  assert.equal((await admin.get(`/api/v1/notes/${acknowledged[0]}`)).status, 200);

  const form = multipart(file('paper', 'paper.txt', Buffer.alloc(8_000_000, 'p')));
  const upload = await admin.send('POST', '/api/v1/notes', form);
  assert.equal(upload.status, 503, upload.text);
  assert.match(upload.text, /"the (disk for files|database's disk) is full"/);

  rmSync(ballast);
  await eventually('writes are accepted again', async () => (await write()) === undefined);
  const stored = await committedIds(admin, 'notes');
  assert.deepEqual(
    acknowledged.filter((id) => !stored.has(id)),
    [],
  );

  await t.test('every event is delivered', async () => {
    await eventually('no event is missing', () => missing().length === 0, patience);
  });

  await t.test('events go on after a start with little room', async () => {
    await endChild(product);
    leaveRoom(ballast, 60_000_000);
    const again = startProduct('one', { SERVICE_DATA_DIR: join(disk.directory, 'data') });
    t.after(() => endChild(again));
    const client = await callers((await readiness(again)).url, undefined).admin();
    acknowledged.push(textAt(await client.create('notes', { body: 'little room' }), 'id'));
    await eventually('the event is delivered', () => missing().length === 0, patience);
  });

  /** Acknowledged writes whose events have not come. */
  function missing(): readonly string[] {
    const announced = new Set(receiver.deliveries.map(({ json }) => textAt(json, 'data.record.id')));
    return acknowledged.filter((id) => !announced.has(id) && !unannounced.includes(id));
  }
});

/** Fills a disk with one file, except for some bytes. */
function leaveRoom(file: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  writeFileSync(file, Buffer.alloc(bavail * bsize - bytes));
}

/**
 * Writes until the database's log has a new segment. A log that cannot grow stops the database for a moment, which is not
 * what this test is about.
 */
async function fillLogSegment(directory: string, write: () => Promise<unknown>): Promise<void> {
  const [log = assert.fail('there is no log')] = globSync(join(directory, '**/pg_wal'));
  const segments = () => readdirSync(log).length;
  const before = segments();
  await eventually(
    'the log has a new segment',
    async () => {
      await write();
      return segments() > before;
    },
    { intervalMs: 0 },
  );
}

/** A text that PostgreSQL cannot compress much. */
const randomText = (): string => Array.from({ length: 4000 }, () => Math.random().toString(36).slice(2)).join('');
