import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The password of the server whose files are in this directory; made once, and only for the owner to read. */
export async function generatedPassword(directory: string): Promise<string> {
  const file = join(directory, 'password');
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known.trim()) return known.trim();
  const password = randomBytes(24).toString('base64url');
  // Written beside and renamed: a crash never leaves half a password that a database was made with.
  await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return password;
}
