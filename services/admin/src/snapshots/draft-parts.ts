import type { CollectionChange } from '../collections/collection-draft.ts';
import { ruleNames } from '../collections/read-rules.ts';
import { hasFieldRules, listOfFields } from './merge-fields.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** Returns a draft without its indexes. */
export const withoutIndexes = ({ indexes: _, ...draft }: SnapshotCollection) => draft;

/** Returns a draft without its indexes and rules. */
export const withoutRules = (draft: SnapshotCollection) => {
  const {
    list_rule: _l,
    view_rule: _v,
    create_rule: _c,
    update_rule: _u,
    delete_rule: _d,
    sign_in_rule: _s,
    webhook_rule: _w,
    ...rest
  } = withoutIndexes(draft);
  return rest;
};

/** Whether the snapshot has field rules. */
export function namesFieldRules(draft: SnapshotCollection): boolean {
  const fields = listOfFields(draft.fields);
  return typeof fields !== 'string' && fields.some(hasFieldRules);
}

/** Returns the rules that the snapshot names. */
export const rulesOf = (draft: SnapshotCollection): CollectionChange =>
  Object.fromEntries(
    ruleNames.flatMap((name) => {
      const rule = draft[`${name}_rule`];
      return rule === undefined ? [] : [[`${name}_rule`, rule]];
    }),
  );
