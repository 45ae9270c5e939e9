import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { superuser } from './postgres-cluster.ts';

/** Returns the URL of the superuser of the server in a data directory, from the URL of its owner. */
export async function superuserUrl(dataDirectory: string, ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl);
  url.username = superuser;
  url.password = (await readFile(join(dataDirectory, 'postgres', 'password'), 'utf8')).trim();
  return url.href;
}
