import type { Collection, Durability, Problems } from '@recordbus/schema';

/**
 * Reads the durability of a definition. Only base collections may be relaxed: a crash must not undo changes of accounts
 * and sessions, and views are not written.
 */
export function readDurability(
  durability: Durability | undefined,
  type: Collection['type'],
  problems: Pick<Problems, 'add'>,
): Pick<Collection, 'durability'> {
  if (durability !== 'relaxed') return {};
  if (type !== 'base') problems.add('durability', `must be full for ${type} collections`);
  return { durability };
}
