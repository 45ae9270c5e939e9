import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the password for the server in this directory; generates it once, in a file that only the owner can read. */
export async function generatedPassword(directory: string, name: string): Promise<string> {
  const file = join(directory, name);
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known.trim()) return known.trim();
  const password = randomBytes(24).toString('base64url');
  // Writes another file and renames it, so that a crash never leaves a partial password.
  await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return password;
}
