import { type DeadPart, findDeadParts } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { ruleNames } from './read-rules.ts';
import { originOf } from './rule-origin.ts';

/** How many characters a warning quotes from a rule. */
const longestQuote = 60;

/** Returns a warning for each part of a collection's and its fields' rules that can never hold (rules §6.4). */
export function warningsOfDeadRules(collection: Collection, collections: readonly Collection[]): string[] {
  const origin = originOf(collection, collections);
  const rules = [
    ...ruleNames.map((name) => [`${name}_rule of ${collection.name}`, collection.rules[name]] as const),
    ...collection.fields.flatMap(({ name, viewRule, writeRule }) => [
      [`view_rule of ${collection.name}.${name}`, viewRule] as const,
      [`write_rule of ${collection.name}.${name}`, writeRule] as const,
    ]),
  ];
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
    case 'other':
      return isWhole
        ? 'It contradicts itself. If only admins are meant, write "".'
        : 'It contradicts itself: correct it, or remove it.';
  }
}
