import { type DeadPart, findDeadParts } from '@recordbus/query';
import type { Collection, Field } from '@recordbus/schema';
import { ruleNames } from './read-rules.ts';
import { originOf } from './rule-origin.ts';

/** How many characters a warning quotes from a rule. */
const longestQuote = 60;

/** A rule, and what warnings call it. */
type PlacedRule = readonly [place: string, rule: string | null | undefined];

/** Returns a warning for each part of a collection's rules that can never hold (rules §6.4). */
export const warningsOfDeadRules = (collection: Collection, collections: readonly Collection[]): string[] =>
  warningsOf(
    ruleNames
      .filter((name) => name !== 'webhook')
      .map((name): PlacedRule => [`${name}_rule of ${collection.name}`, collection.rules[name]]),
    collection,
    collections,
  );

/** The same for the rules of some fields. */
export const warningsOfDeadFieldRules = (
  fields: readonly Field[],
  collection: Collection,
  collections: readonly Collection[],
): string[] =>
  warningsOf(
    fields.flatMap(({ name, viewRule, writeRule }): PlacedRule[] => [
      [`view_rule of ${collection.name}.${name}`, viewRule],
      [`write_rule of ${collection.name}.${name}`, writeRule],
    ]),
    collection,
    collections,
  );

function warningsOf(rules: readonly PlacedRule[], collection: Collection, collections: readonly Collection[]) {
  const origin = originOf(collection, collections);
  return rules.flatMap(([place, rule]) =>
    rule ? findDeadParts(rule, origin).map((part) => sentenceOf(place, rule, part, origin.accounts)) : [],
  );
}

function sentenceOf(
  place: string,
  rule: string,
  { position, isWhole, tests }: DeadPart,
  accounts: readonly Collection[],
): string {
  const text = rule.slice(position);
  const quote = text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text;
  const part = isWhole ? `${place} never holds` : `${place} has a part that never holds, at character ${position + 1}`;
  return `${part}: ${quote}. ${advice(tests, isWhole, accounts)}`;
}

function advice(tests: DeadPart['tests'], isWhole: boolean, accounts: readonly Collection[]): string {
  switch (tests) {
    case 'null':
      return 'A value that the caller lacks equals nothing, not even null. For callers with an account, write @request.auth.id != "".';
    case 'type':
      return '@request.auth.type is "user" or "service". Guests have none, and admins are never asked.';
    case 'collection':
      return `@request.auth.collection names an auth collection: ${accounts.map(({ name }) => name).join(', ') || 'there is none'}.`;
    case 'choice':
      return "The value is none of the select's choices.";
    case 'other':
      return isWhole
        ? 'It contradicts itself. If only admins are meant, write "".'
        : 'It contradicts itself: correct it, or remove it.';
  }
}
