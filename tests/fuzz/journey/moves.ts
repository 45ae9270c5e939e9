import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipArchive } from '../../harness/clients/zip-archive.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import { createPocketBaseData } from '../../harness/pocketbase/data.ts';
import type { Call } from './survey.ts';

/** Calls the operations on moves, with the backup of a PocketBase without collections. */
export async function goThroughMoves({
  call,
  admin: as,
}: {
  readonly call: Call;
  readonly admin: string;
}): Promise<void> {
  const text = emptyBackup();
  const start = async () => {
    const { json } = await call('postAdminImportPocketbase', { as, raw: { type: 'application/zip', text } });
    const path = { id: textAt(json, 'data.id') };
    await until(path, 'planned');
    return path;
  };
  const until = (path: { readonly id: string }, state: string) =>
    eventually(`a move is ${state}`, async () => {
      const { json } = await call('getAdminImportPocketbaseById', { as, path });
      return textAt(json, 'data.state') === state;
    });
  await call('postAdminImportPocketbaseByIdCancel', { as, path: await start() });
  const path = await start();
  await call('postAdminImportPocketbaseByIdConfirm', { as, path });
  await until(path, 'done');
  await call('getAdminImportPocketbaseByIdReport', { as, path });
  await call('getAdminImportPocketbase', { as, query: { page: '1', perPage: '2' } });
}

function emptyBackup(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-backup-'));
  try {
    createPocketBaseData(directory).close();
    return zipArchive([{ name: 'data.db', bytes: readFileSync(join(directory, 'data.db')) }]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
