import { authOf, type QuerySchema } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { schemaFor } from '../rules/key-collections.ts';
import type { RuleContext } from '../rules/rule-context.ts';

/** A collection's part in a person's own data. */
export interface OwnPart {
  /** The collection, with the rule by which its records are picked as its list rule. */
  readonly collection: Collection;
  /** The filter that picks the person's records. */
  readonly filter: string;
}

/**
 * The person's records (privacy §4.2): the account itself, and in each collection the records that refer to it by a relation and
 * that the person may view. A relation that not everyone sees with its record does not count, since it is no use to say so.
 */
export function ownParts(accounts: Collection, accountId: string, all: readonly Collection[]): readonly OwnPart[] {
  const account = { collection: withListRule(accounts, null), filter: `id = "${accountId}"` };
  const others = all.flatMap((collection): OwnPart[] => {
    const relations = collection.fields.filter(
      (field) => field.type === 'relation' && field.collection === accounts.name && field.viewRule == null,
    );
    if (collection.type === 'view' || collection.rules.view === '' || relations.length === 0) return [];
    const filter = relations.map(({ name }) => `${name} = "${accountId}"`).join(' || ');
    return [{ collection: withListRule(collection, collection.rules.view), filter }];
  });
  return [account, ...others];
}

const withListRule = (collection: Collection, rule: string | null): Collection => ({
  ...collection,
  rules: { ...collection.rules, list: rule },
});

/** What rules read when the product reads for a person. */
export const contextOf = (principal: Principal, schema: QuerySchema): RuleContext => ({
  principal,
  schema: schemaFor(principal, schema),
  request: {
    method: 'GET',
    auth: authOf(principal),
    body: undefined,
    query: () => undefined,
    header: () => undefined,
  },
});
