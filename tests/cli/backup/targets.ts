import assert from 'node:assert/strict';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { at, listAt, numberAt } from '../../harness/json.ts';
import { runCli } from '../../harness/processes/cli.ts';
import { type Deployment, variablesOf } from './deployment.ts';

/** Where a backup can be written. */
export async function targets(t: TestContext, { ground, archive, backup, admin }: Deployment): Promise<void> {
  await t.test('the error names a directory that cannot be written', async () => {
    const file = join(archive('none'), 'backup.tar.gz');
    const { code, stderr } = await runCli(['backup', 'create', file], { environment: variablesOf(ground) });
    assert.equal(code, 1);
    assert.match(stderr, /backup\.tar\.gz cannot be written: ENOENT/);
  });

  await t.test('a full disk is reported and leaves no file', { skip: !existsSync('/dev/full') }, async () => {
    symlinkSync('/dev/full', archive('full.tar.gz.part'));
    const { code, stderr } = await backup('full.tar.gz');
    assert.equal(code, 1);
    assert.match(stderr, /full\.tar\.gz cannot be written: ENOSPC/);
    assert.deepEqual(
      readdirSync(ground.dataDirectory).filter((name) => name.startsWith('full')),
      [],
    );
  });

  await t.test('--no-secret leaves the secret out, and - writes to standard output', async () => {
    const { code, stdout } = await runCli(['backup', 'create', '-', '--no-secret'], {
      environment: variablesOf(ground),
    });
    assert.equal(code, 0);
    assert.ok(stdout.length > 1000);
    const [row] = listAt((await admin.get('/api/v1/admin/audit?action=backups.create&perPage=1')).json, 'data');
    assert.deepEqual([row?.actor_type, row?.user_agent, at(row, 'details.keys')], ['system', 'recordbus cli', false]);
    assert.ok(numberAt(row, 'details.rows') > 0 && numberAt(row, 'details.tables') > 0);
  });
}
