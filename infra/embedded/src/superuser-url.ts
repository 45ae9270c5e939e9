import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { superuser } from './postgres-cluster.ts';

/** Returns the superuser's URL for the server in a data directory, from the owner's URL. */
export async function superuserUrl(dataDirectory: string, ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl);
  url.username = superuser;
  url.password = (await readFile(join(dataDirectory, 'postgres', 'password'), 'utf8')).trim();
  return url.href;
}
