import type { CrossedCollection, LiveRequest } from '@recordbus/live';
import { type Crossing, findCrossings, QueryError } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { type CompileContext, clientScope } from '../rules/compile-rule.ts';
import { needsRuleCheck } from '../rules/rule-context.ts';

/** The collections through which a subscription's rule and filter lead. */
export function findCrossed(
  collection: Collection,
  { record, filter }: LiveRequest,
  context: CompileContext,
): readonly CrossedCollection[] {
  const scope = clientScope(collection, context);
  const action = record === undefined ? 'list' : 'view';
  const rule = needsRuleCheck(collection, action, context) ? collection.rules[action] : null;
  const crossings = [
    ...(rule ? ofRule(() => findCrossings(rule, { ...scope, audience: 'rule' })) : []),
    ...(filter === undefined ? [] : findCrossings(filter, scope)),
  ];
  const groups = Map.groupBy(crossings, (crossing) => `${crossing.isCaller} ${crossing.collection.name}`);
  return [...groups.values()].flatMap((those) => {
    const [first] = those;
    if (!first) return [];
    const fields = new Set(those.flatMap((it) => [...it.fields]));
    const leadsToAccounts = ({ name, collection: target }: Collection['fields'][number]) =>
      fields.has(name) && target !== undefined && context.schema.findCollection(target)?.type === 'auth';
    const naming = new Set(those.flatMap((it) => [...it.naming]));
    const namesAccounts = (field: Collection['fields'][number]) => leadsToAccounts(field) || naming.has(field.name);
    return {
      collection: first.collection.name,
      collectionId: first.collection.id,
      fields: [...fields],
      accountFields: first.collection.fields.filter(namesAccounts).map(({ name }) => name),
      isCaller: first.isCaller,
    };
  });
}

/** An invalid rule admits nobody, whatever other records contain. */
function ofRule(find: () => Crossing[]): Crossing[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
}
