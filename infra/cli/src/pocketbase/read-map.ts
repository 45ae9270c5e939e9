import { readFile } from 'node:fs/promises';
import { messageOf } from '@recordbus/errors';
import { CommandFailure } from '@recordbus/stack-calls';

/** Reads a file with new names of collections. */
export async function readMap(file: string): Promise<Readonly<Record<string, string>>> {
  let map: unknown;
  try {
    map = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read as JSON: ${messageOf(error)}.`);
  }
  const entries = typeof map === 'object' && map !== null && !Array.isArray(map) ? Object.entries(map) : undefined;
  if (!entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    throw new CommandFailure(`${file} must be a JSON object with new names: {"old": "new"}.`);
  return Object.fromEntries(entries);
}
