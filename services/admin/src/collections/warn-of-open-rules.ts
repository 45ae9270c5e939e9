import { findOpenRules, type OpenRule } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';

/** Returns warnings about rules that let guests write records or read accounts (collections §3.2). */
export function warningsOfOpenRules(collection: Collection, collections: readonly Collection[]): string[] {
  const findCollection = (name: string) => collections.find((other) => other.name === name);
  const open = findOpenRules(collection, { findCollection });
  const what = collection.type === 'auth' ? 'accounts' : 'records';
  const sentence = (rules: readonly OpenRule[], reason: (names: string) => string): string[] => {
    const verbs = rules.map(({ name }) => name);
    const names = verbs.map((name) => `${name}_rule`);
    if (rules.length === 0) return [];
    return [`Guests may ${listOf(verbs)} ${what} in ${collection.name}: ${reason(listOf(names))}.`];
  };
  const [certain, conditional] = [false, true].map((is) => open.filter(({ isConditional }) => isConditional === is));
  return [
    ...sentence(certain ?? [], (names) => `${names} ${certain?.length === 1 ? 'is' : 'are'} null`),
    ...sentence(conditional ?? [], (names) => `${names} can hold for callers without an account`),
  ];
}

const listOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
