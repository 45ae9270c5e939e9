import { tableOf } from '@recordbus/schema';
import { passesRules } from '../rules/rule-context.ts';
import { canBePlaced, equalCreates } from './equal-creates.ts';
import type { EqualOperations } from './equal-operations.ts';
import { equalUpdates } from './equal-updates.ts';
import type { ReadyOperation } from './ready-operation.ts';
import type { OperationResult } from './results.ts';

/** Upserts by id that can be done together as updates and as creates: one statement for each. */
export const equalUpserts: EqualOperations = {
  kindOf(ready, rules) {
    const { collection, id, call, operation } = ready;
    if (id === undefined || operation.ifMatch !== undefined || !canBePlaced(ready)) return undefined;
    // A closed rule refuses an existing record before the body is read.
    if (collection.rules.update === '' && !passesRules(call, collection, 'write')) return undefined;
    const kinds = [equalUpdates.kindOf(ready, rules), equalCreates.kindOf(ready, rules)];
    return kinds.includes(undefined) ? undefined : JSON.stringify(kinds);
  },

  async run(unit, ready, rules) {
    const [{ collection, call }] = ready;
    const found = await unit.query<{ id: string }>({
      text: `select t.id from ${tableOf(collection)} t where t.id = any($1::text[]) order by t.id for update`,
      values: [ready.map(({ id }) => id)],
    });
    const ids = new Set(found.map(({ id }) => id));
    const isThere = ({ id = '' }: ReadyOperation) => ids.has(id);
    const results = new Map<number, OperationResult>();
    for (const [equal, group] of [
      [equalUpdates, ready.filter(isThere)],
      [equalCreates, ready.filter((one) => !isThere(one))],
    ] as const) {
      const [first, ...others] = group;
      if (!first) continue;
      if (equal === equalCreates) rules.collections.requireAction(collection, 'create', call.principal);
      const done = await equal.run(unit, [first, ...others], rules);
      if (!done) return undefined;
      for (const [n, one] of group.entries()) if (done[n]) results.set(one.index, done[n]);
    }
    return ready.flatMap(({ index }) => results.get(index) ?? []);
  },
};
