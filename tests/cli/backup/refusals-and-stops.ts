import assert from 'node:assert/strict';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { stopCli } from '../../harness/processes/stop-cli.ts';
import { createGround, type Ground } from '../../harness/stacks/stack.ts';
import { type Deployment, variablesOf } from './deployment.ts';

/** Failures in both commands. They need the archives `quiet.tar.gz` and `burst.tar.gz` from the tests before. */
export async function refusalsAndStops(t: TestContext, deployment: Deployment): Promise<void> {
  const { ground, archive, backup, restore } = deployment;

  await t.test(
    'restore refuses deployments in use or with data, and damaged, truncated, newer or too old archives, and changes nothing',
    async () => {
      await using copy = await createGround();
      const bytes = readFileSync(archive('quiet.tar.gz'));
      writeFileSync(
        archive('flipped.tar.gz'),
        bytes.with(Math.floor(bytes.length / 2), 255 - (bytes[Math.floor(bytes.length / 2)] ?? 0)),
      );
      writeFileSync(archive('cut.tar.gz'), bytes);
      truncateSync(archive('cut.tar.gz'), bytes.length - 2000);
      writeFileSync(archive('other.tar.gz'), 'no archive at all');
      const database = new pg.Client({ connectionString: ground.databaseUrl });
      await database.connect();
      await database.query("insert into system.kysely_migration values ('9999-from-the-future', '')");
      const newer = await backup('newer.tar.gz');
      await database.query("delete from system.kysely_migration where name like '9999%'");
      await database.query("update system.kysely_migration set name = '0100-too-old' where name = '0101-schema'");
      const older = await backup('older.tar.gz');
      await database.query("update system.kysely_migration set name = '0101-schema' where name = '0100-too-old'");
      await database.end();
      assert.deepEqual([newer.code, older.code], [0, 0], newer.stderr + older.stderr);

      const refusals = [
        ['flipped.tar.gz', /damaged|incomplete/],
        ['cut.tar.gz', /damaged|incomplete/],
        ['other.tar.gz', /damaged|not a backup/],
        ['newer.tar.gz', /newer version/],
        ['older.tar.gz', /they end with 0100-too-old.* Start the version that ends with 0101-mail-turns once/],
        ['none.tar.gz', /does not exist/],
      ] as const;
      await Promise.all(
        refusals.map(async ([name, words]) => {
          const refused = await restore(name, copy);
          assert.match(refused.stderr, words, name);
          assert.equal(refused.code, 1, name);
        }),
      );
      assert.deepEqual(readdirSync(copy.dataDirectory), []);
      const inUse = await restore('quiet.tar.gz', ground, '--force');
      assert.match(inUse.stderr, /Services are running on this database \(local\)/);

      assert.equal((await restore('quiet.tar.gz', copy)).code, 0);
      const again = await restore('quiet.tar.gz', copy);
      assert.match(again.stderr, /holds uploaded files and a secret file/);
      const forced = await restore('burst.tar.gz', copy, '--force');
      assert.equal(forced.code, 0, forced.stderr);
      assert.deepEqual(readdirSync(copy.dataDirectory).sort(), ['jwt_secret', 'uploads']);
    },
  );

  await t.test(
    'a backup that is stopped or killed leaves no archive, a restore changes nothing, and both can be repeated',
    async () => {
      await using copy = await createGround();
      assert.equal((await restore('quiet.tar.gz', copy)).code, 0);

      const heldIn = (place: Ground) => ({
        databaseUrl: place.databaseUrl,
        table: 'records.posts',
        environment: variablesOf(place),
      });
      const create = (signal: NodeJS.Signals) =>
        stopCli(['backup', 'create', archive('stopped.tar.gz')], { signal, ...heldIn(ground) });
      const replace = (signal: NodeJS.Signals) =>
        stopCli(['backup', 'restore', archive('burst.tar.gz'), '--force'], { signal, ...heldIn(copy) });
      const leftBehind = () => readdirSync(ground.dataDirectory).filter((name) => name.startsWith('stopped'));

      assert.deepEqual(await create('SIGINT'), [130, 'SIGINT stopped backup create before it was done.']);
      assert.deepEqual(leftBehind(), []);
      assert.deepEqual(await create('SIGKILL'), [null, '']);
      assert.deepEqual(leftBehind(), ['stopped.tar.gz.part']);
      assert.equal((await backup('stopped.tar.gz')).code, 0);
      assert.deepEqual(leftBehind(), ['stopped.tar.gz']);

      assert.deepEqual(await replace('SIGTERM'), [143, 'SIGTERM stopped backup restore before it was done.']);
      assert.deepEqual(readdirSync(copy.dataDirectory).sort(), ['jwt_secret', 'uploads']);
      assert.deepEqual(await replace('SIGKILL'), [null, '']);
      const rowsOf = async ({ databaseUrl }: Ground): Promise<number> => {
        const database = new pg.Client({ connectionString: databaseUrl });
        await database.connect();
        const { rows } = await database.query('select count(*)::int as count from records.papers');
        await database.end();
        return rows[0]?.count;
      };
      assert.equal(await rowsOf(copy), await rowsOf(ground));
      const again = await restore('stopped.tar.gz', copy, '--force');
      assert.equal(again.code, 0, again.stderr);
      assert.deepEqual(readdirSync(copy.dataDirectory).sort(), ['jwt_secret', 'uploads']);
    },
  );
}
