import { type Collection, perCollection } from '@recordbus/schema';
import { type CompileContext, callerKind } from '../rules/compile-rule.ts';

/**
 * Memoizes a function whose result depends on a rule: by collection, schema version, and the kind of caller. `make`
 * must not depend on anything else about the principal.
 */
export function perCallerKind<T>(
  make: (collection: Collection, context: CompileContext) => T,
): (collection: Collection, context: CompileContext) => T {
  const madeOf = perCollection(() => new Map<string, T>());
  return (collection, context) => {
    const made = madeOf(collection);
    const kind = callerKind(context);
    let value = made.get(kind);
    if (value === undefined) {
      value = make(collection, context);
      made.set(kind, value);
    }
    return value;
  };
}
