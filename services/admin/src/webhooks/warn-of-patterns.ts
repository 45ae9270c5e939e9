import type { Query } from '@recordbus/database';
import { readCustomEvents } from '@recordbus/extension-host/custom-events';
import { type Collection, loadCollections } from '@recordbus/schema';

const actions: readonly string[] = ['create', 'update', 'delete'];

/** Returns a warning for each pattern that no known event has: of records, of the product, or declared (webhooks §1.3). */
export async function warningsOfPatterns(query: Query, patterns: readonly string[]): Promise<string[]> {
  const { collections } = await loadCollections(query);
  return findUnknownPatterns(patterns, collections, await readCustomEvents(query));
}

/** The same with the given collections and declared events. */
export function findUnknownPatterns(
  patterns: readonly string[],
  collections: readonly Pick<Collection, 'name' | 'type'>[],
  declared: readonly { readonly name: string }[],
): string[] {
  const withEvents = new Set(collections.flatMap(({ name, type }) => (type === 'view' ? [] : [name])));
  const views = new Set(collections.flatMap(({ name, type }) => (type === 'view' ? [name] : [])));
  const isDeclared = (pattern: string): boolean =>
    declared.some(({ name }) => name === pattern || (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1))));
  return patterns.flatMap((pattern) => {
    const [name = '', action = '', ...rest] = pattern.split('.');
    const isOther = name === 'system' || pattern === 'webhooks.test' || rest.length > 0 || action === '';
    if (pattern === '*' || isOther || isDeclared(pattern)) return [];
    if (views.has(name) && (action === '*' || actions.includes(action)))
      return [`The pattern ${pattern} matches no event: ${name} is a view, and views have no events.`];
    if (withEvents.has(name)) {
      if (action === '*' || actions.includes(action)) return [];
      return [
        `The pattern ${pattern} matches no event of records: a collection's events are ${name}.create, ${name}.update and ${name}.delete. An event that an extension publishes under this name is not declared.`,
      ];
    }
    if (!actions.includes(action)) return [];
    return [
      `The pattern ${pattern} matches no event of records: there is no collection ${name}. An event that an extension publishes under this name is not declared.`,
    ];
  });
}
