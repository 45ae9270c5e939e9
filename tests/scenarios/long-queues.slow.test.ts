import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { webhooksPath } from '../harness/clients/webhook.ts';
import { textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { createGround, type Ground, startStack } from '../harness/stacks/stack.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';
import { fillings } from './queues/fillings.ts';
import { prepareQueues, useQueues } from './queues/use-queues.ts';

/** How many rows each filling adds. */
const rows = 30_000;
/** More rows than this are a whole table: what passes through the queues itself reads some hundred. */
const mostRead = rows / 2;

const directory = copyExtensions('jobs', 'mailing');
after(() => rmSync(directory, { recursive: true }));
const environment = { SERVICE_EXTENSIONS_DIR: directory, SERVICE_EXTENSIONS_JOB_WORKERS: '2' };

/** Returns how many rows PostgreSQL has read from each filled table, and how many entries from its indexes. */
async function countReads(ground: Ground): Promise<ReadonlyMap<string, number>> {
  const counted = await inDatabase(
    ground,
    `select relname as table, relname::text as place, seq_tup_read::float8 as reads
      from pg_stat_user_tables where schemaname = 'system'
      union all
      select relname, relname || ' by ' || indexrelname, idx_tup_read::float8
      from pg_stat_user_indexes where schemaname = 'system'`,
    [],
  );
  // The name of a day's partition ends with the day.
  const isFilled = (table: string) => Object.hasOwn(fillings, table.replace(/_\d{8}$/, ''));
  return new Map(
    counted.filter(({ table }) => isFilled(String(table))).map(({ place, reads }) => [String(place), Number(reads)]),
  );
}

test('no statement of a queue reads a whole table, whenever its rows came', async () => {
  await using ground = await createGround();
  await using receiver = await startReceiver();
  await using mails = await startMailServer();
  const database = new URL(ground.commandsUrl).pathname.slice(1);
  // What is prepared keeps its first plan, as it would after some runs.
  await inDatabase(ground, `alter database ${database} set plan_cache_mode = 'force_generic_plan'`, []);
  const stack = await startStack({ topology: 'one', ground, environment });
  let before: ReadonlyMap<string, number>;
  try {
    const ends = { stack, receiver, mails };
    await prepareQueues(ends);
    await useQueues(ends, 'short');
    const away = { name: 'Away', url: receiver.url, events: ['nothing.create'], enabled: false };
    const admin = await stack.admin();
    const id = textAt(await admin.post(webhooksPath, away), 'id');
    await admin.post(webhooksPath, { name: 'Failing', url: receiver.url, events: ['nothing.create'] });
    for (const text of Object.values(fillings).flat())
      await inDatabase(
        ground,
        text,
        [rows, id].filter((_, index) => text.includes(`$${index + 1}`)),
      );
    before = await countReads(ground);
    await useQueues(ends, 'grown');
    await inDatabase(ground, 'analyze', []);
    await useQueues(ends, 'analyzed');
  } finally {
    // Its connections have reported all their reads when they have ended.
    await stack.stop();
  }
  const read = [...(await countReads(ground))].map(
    ([place, reads]) => [place, reads - (before.get(place) ?? 0)] as const,
  );
  assert.ok(read.some(([, reads]) => reads > 0));
  // PostgreSQL's auto_explain shows which statement it was.
  assert.deepEqual(
    read.filter(([, reads]) => reads > mostRead),
    [],
  );
});
