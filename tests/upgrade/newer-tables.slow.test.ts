import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Client } from '../harness/clients/client.ts';
import { eventually, Hopeless } from '../harness/eventually.ts';
import { type Child, endChild, startChild } from '../harness/processes/child.ts';
import { copyFiles, linkDependencies } from '../harness/processes/fresh-clone.ts';
import { startServiceProcess } from '../harness/stacks/service-process.ts';
import { environmentOf, repository, type Stack, startStack } from '../harness/stacks/stack.ts';

/** The next version's migration, which only adds: to every table, since sessions have plans for all of them. */
const addsToAll = `do $$ declare name regclass; begin
  for name in select oid from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'system'::regnamespace loop
    execute format('alter table %s add column later text', name);
  end loop;
end $$;`;

describe("a next version's migration", () => {
  const cleanUp = new AsyncDisposableStack();
  let next: string;
  let stack: Stack;
  let admin: Client;

  before(async () => {
    next = mkdtempSync(join(tmpdir(), 'recordbus-next-'));
    cleanUp.defer(() => rmSync(next, { recursive: true }));
    copyFiles(next);
    linkDependencies(next);
    stack = cleanUp.use(await startStack({ topology: 'processes' }));
    admin = await stack.admin();
    await admin.post('/api/v1/collections', {
      name: 'notes',
      type: 'base',
      fields: [{ name: 'value', type: 'number' }],
    });
  });
  after(() => cleanUp.disposeAsync());

  const migrationFile = (name: string) => join(next, `libs/database/src/migrations/${name}.sql`);

  const startNext = (): Child =>
    startChild(process.execPath, [join(next, 'services/records/src/main.ts')], {
      ipc: true,
      env: { ...process.env, ...environmentOf(stack.ground), SERVICE_HOST: '127.0.0.1', SERVICE_PORT: '0' },
    });

  /** Uses every service of this version, several times, so that each pooled session is likely to be used. */
  async function use(): Promise<void> {
    for (let value = 0; value < 20; value += 1) {
      const { id } = await admin.create('notes', { value });
      await admin.patch(`/api/v1/notes/${id}`, { value: -value });
      for (const path of [`notes/${id}`, 'notes', 'collections', 'admin/settings', 'admin/webhooks', 'admin/admins']) {
        const { status, text } = await admin.get(`/api/v1/${path}`);
        assert.equal(status, 200, `${path}: ${text}`);
      }
    }
    const refreshed = await admin.send('POST', '/api/v1/auth/refresh');
    assert.equal(refreshed.status, 200, refreshed.text);
  }

  test('that fails leaves this version running and able to start, and says what to do [operation §4.2]', async () => {
    await use();
    writeFileSync(migrationFile('9000-fails'), "insert into system.instance values ('half', ''); select 1/0;");
    const child = startNext();
    const { code } = await child.exited;
    rmSync(migrationFile('9000-fails'));
    assert.equal(code, 1);
    const sentence =
      "The migration 9000-fails failed: division by zero. The tables are unchanged, and the previous version's " +
      'services keep working: leave them running, remove the cause, and start this version again.';
    assert.ok(child.lines.includes(sentence), child.lines.join('\n'));
    await use();
    await using replica = await startServiceProcess('records', stack.ground);
    assert.equal((await replica.guest.get('/readyz')).status, 200);
  });

  test('that only adds leaves this version working and able to start [operation §4.6]', async () => {
    writeFileSync(migrationFile('9000-adds'), addsToAll);
    const child = startNext();
    await eventually('the next version is ready', () => {
      if (!child.isRunning) throw new Hopeless(child.lines.slice(-20).join('\n'));
      return child.messages[0] !== undefined;
    });
    await use();
    await using replica = await startServiceProcess('records', stack.ground);
    assert.equal((await replica.guest.get('/readyz')).status, 200);
    assert.equal((await endChild(child)).code, 0);
  });

  test('that removes what this version needs keeps it from starting [operation §4.2]', async () => {
    const database = new pg.Client({ connectionString: stack.ground.databaseUrl });
    await database.connect();
    await database.query("insert into system.kysely_migration values ('9001-removes-needs-9000', '')");
    const child = startChild(process.execPath, [join(repository, 'services/records/src/main.ts')], {
      env: { ...process.env, ...environmentOf(stack.ground) },
    });
    assert.equal((await child.exited).code, 78);
    assert.match(String(child.lines.at(-1)), /^The database was made by a newer version: it has 9000-adds, 9001-rem/);
    await database.query("delete from system.kysely_migration where name like '9001%'");
    await database.end();
  });
});
