import type { Collection, Durability, Problems } from '@recordbus/schema';

/**
 * Reads a definition's durability. Only base collections may be relaxed: a crash must not undo changes to accounts and
 * sessions, and views are not written.
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
