import { type Collection, perCollection } from '@recordbus/schema';
import type { Call } from '../rules/rule-context.ts';
import { isRelaxed } from '../write/is-relaxed.ts';
import type { WriteHooks } from '../write/write-hooks.ts';
import { type WriteMode, widestMode } from '../write/write-mode.ts';
import { isOwnAccount, type OwnAccount } from './own-account.ts';
import { clears, type FindReferrers } from './referrers.ts';

/** The collections whose records a delete in `root` may delete, `root` included, and those whose records it may clear. */
const targetsOf = perCollection((root, findReferrers: FindReferrers) => {
  const deleted = new Set<Collection>([root]);
  const cleared = new Set<Collection>();
  // The loop also visits the collections that it adds.
  for (const target of deleted) {
    for (const { collection, cascade } of findReferrers(target)) {
      if (cascade === 'cascade') deleted.add(collection);
      if (clears(cascade)) cleared.add(collection);
    }
  }
  return { deleted: [...deleted], cleared: [...cleared] };
});

/** Whether a delete need not wait for the disk because it and its cascade write only relaxed collections. */
export function isRelaxedDelete(root: Collection, { findReferrers }: Pick<DeleteModeRules, 'findReferrers'>): boolean {
  const { deleted, cleared } = targetsOf(root, findReferrers);
  return [...deleted, ...cleared].every(isRelaxed);
}

interface DeleteModeRules {
  readonly findReferrers: FindReferrers;
  readonly hooks: WriteHooks;
}

/**
 * A delete's mode: one statement when no relation points at the collection, a transaction for cascades, and `hooked`
 * when the delete, or any write that it may cause, has hooks.
 */
export function modeOfDelete(root: Collection, { findReferrers, hooks }: DeleteModeRules): WriteMode {
  const { deleted, cleared } = targetsOf(root, findReferrers);
  const isHooked =
    deleted.some((collection) => hooks.find(collection, 'delete')) ||
    cleared.some((collection) => hooks.find(collection, 'update'));
  if (isHooked) return 'hooked';
  return findReferrers(root).length > 0 ? 'transaction' : 'statement';
}

/** The mode of a caller's delete. With the caller's own account, the delete commits with the job of its erasure. */
export function modeOfCallersDelete(
  record: OwnAccount,
  call: Pick<Call, 'principal'>,
  rules: DeleteModeRules,
): WriteMode {
  const mode = modeOfDelete(record.collection, rules);
  return isOwnAccount(record, call) ? widestMode('transaction', mode) : mode;
}
