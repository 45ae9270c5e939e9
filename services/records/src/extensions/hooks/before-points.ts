import { type BeforePoint, type CallTarget, type ExtensionHost, everyCollection } from '@recordbus/extension-host';
import type { Operation } from '../../write/write-hooks.ts';

/** Each operation's hook points in two phases. The fields are checked between the phases. */
export const phases: Readonly<Record<Operation, readonly [readonly BeforePoint[], readonly BeforePoint[]]>> = {
  create: [['beforeValidate'], ['afterValidate', 'beforeCreate']],
  update: [['beforeValidate'], ['afterValidate', 'beforeUpdate']],
  delete: [[], ['beforeDelete']],
};

/** A loaded extension's before hook. */
interface DeclaredHook {
  readonly extension: string;
  readonly target: CallTarget;
}

/** Returns a collection's hooks at some points, in the order in which they run. */
export const hooksAt = (
  extensions: ExtensionHost['extensions'],
  collection: string,
  points: readonly BeforePoint[],
): readonly DeclaredHook[] =>
  points.flatMap((point) =>
    extensions.flatMap(({ name, description }) =>
      [everyCollection, collection].flatMap((listed) =>
        description.hooks.some((hook) => hook.point === point && hook.collection === listed)
          ? [{ extension: name, target: { kind: 'hook', collection: listed, point } as const }]
          : [],
      ),
    ),
  );

/**
 * Creates the function that returns whether an operation on a collection has hooks. Every write checks it, so the
 * result is cached while the same extensions are loaded.
 */
export function createHasHooks(host: Pick<ExtensionHost, 'extensions'>) {
  const known = new Map<string, boolean>();
  let knownOf: ExtensionHost['extensions'] = [];

  return (collection: string, operation: Operation): boolean => {
    if (knownOf !== host.extensions) known.clear();
    knownOf = host.extensions;
    const key = `${operation} ${collection}`;
    let found = known.get(key);
    if (found === undefined) {
      found = hooksAt(host.extensions, collection, phases[operation].flat()).length > 0;
      known.set(key, found);
    }
    return found;
  };
}
