import type { Collection, Problems } from '@recordbus/schema';

/**
 * Reads a definition's alias (collections §1.7). Without one the collection keeps what it has; null removes it. It is no
 * other collection's name or alias. A name that is taken later wins.
 */
export function readAlias(
  alias: string | null | undefined,
  before: Pick<Collection, 'id' | 'alias'> | undefined,
  collections: readonly Collection[],
  problems: Pick<Problems, 'add'>,
): Pick<Collection, 'alias'> {
  const kept = alias === undefined ? before?.alias : (alias ?? undefined);
  if (kept === undefined) return {};
  const isTaken = collections.some(
    (other) => other.id !== before?.id && (other.alias === kept || other.name.toLowerCase() === kept.toLowerCase()),
  );
  if (isTaken && kept !== before?.alias) problems.add('alias', 'is the name or alias of another collection');
  return { alias: kept };
}
