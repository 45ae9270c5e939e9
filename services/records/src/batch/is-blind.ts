import { hasAccounts } from '@recordbus/accounts';
import { seesWrites } from '@recordbus/query';
import { isAdmin } from '@recordbus/request/key-rights';
import type { Collection } from '@recordbus/schema';
import { perCallerKind } from '../record/per-caller-kind.ts';
import type { CompileContext } from '../rules/compile-rule.ts';

type Action = 'create' | 'update' | 'delete';

/**
 * Whether no rule on a write sees what earlier operations wrote to the collection's other records. Account rules may
 * read the caller, whose account may be one of these records.
 */
export const isBlind = (action: Action, collection: Collection, context: CompileContext): boolean =>
  blind[action](collection, context);

const blind = { create: isBlindFor('create'), update: isBlindFor('update'), delete: isBlindFor('delete') };

function isBlindFor(action: Action) {
  return perCallerKind((collection, { principal, schema }) => {
    if (hasAccounts(collection)) return false;
    if (isAdmin(principal)) return true;
    const ofFields = collection.fields.flatMap(({ viewRule, writeRule }) => [viewRule, writeRule]);
    return [collection.rules[action], ...ofFields].every(
      (rule) => !rule || !seesWrites(rule, { collection, schema, principal }),
    );
  });
}
