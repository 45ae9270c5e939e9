import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textAt } from '../json.ts';
import { runCli } from '../processes/cli.ts';
import { createGround, firstAdmin, type StackTopology, startStack } from '../stacks/stack.ts';
import { createPocketBaseData, type PocketBaseData } from './data.ts';

/** Starts a stack, and makes a data directory of PocketBase that a test moves into it. */
export async function prepareMove(
  tidying: AsyncDisposableStack,
  fill: (data: PocketBaseData) => void,
  topology: StackTopology = 'one',
) {
  const folder = createMoveFolder(tidying);
  const data = createPocketBaseData(join(folder, 'pb_data'));
  tidying.defer(async () => data.close());
  fill(data);
  return { data, ...(await startTarget(tidying, folder, topology)) };
}

/** Makes a folder for a test's data directory. */
export function createMoveFolder(tidying: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'recordbus-test-pocketbase-'));
  tidying.defer(async () => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts a stack into which the folder's `pb_data` moves. */
export async function startTarget(tidying: AsyncDisposableStack, folder: string, topology: StackTopology = 'one') {
  const directory = join(folder, 'pb_data');
  const ground = tidying.use(await createGround());
  const stack = tidying.use(await startStack({ topology, ground }));
  const admin = await stack.admin();
  const signedIn = await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin });
  const token = textAt(signedIn.json, 'data.token');
  const environment = { SERVICE_KEY: token, SERVICE_DATA_DIR: join(folder, 'none') };
  const importFrom = (source: string, ...more: string[]) =>
    runCli(['import', 'pocketbase', source, '--url', stack.url, ...more], { environment });
  const move = async (...more: string[]) => {
    const done = await importFrom(directory, '--json', ...more);
    return { code: done.code, stderr: done.stderr, json: done.stdout === '' ? undefined : done.json };
  };
  const { dataDirectory } = ground;
  return { folder, directory, ground, dataDirectory, stack, admin, token, importFrom, move };
}
