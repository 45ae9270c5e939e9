import type { CollectionValues, FieldDefinition } from '@recordbus/client';
import { ruleWords } from './rule-texts.ts';

/** A definition part that differs between two admins. */
export interface Difference {
  readonly name: string;
  /** Undefined if this version does not have it. */
  readonly theirs: string | undefined;
  readonly mine: string | undefined;
}

interface Part {
  readonly name: string;
  readonly text: string;
}

/** Returns a definition's parts as texts to compare. Fields match by id, so a renamed field is the same part. */
function partsOf({ fields = [], ...members }: CollectionValues): Map<string, Part> {
  const parts = Object.entries(members).map(([name, value]): [string, Part] => [
    name,
    { name: name.replace('_', ' '), text: name.endsWith('_rule') ? ruleWords(value) : textOf(value) },
  ]);
  const ofFields = fields.map((field): [string, Part] => [
    `field ${field.id ?? field.name}`,
    { name: `field ${field.name}`, text: fieldText(field) },
  ]);
  return new Map([...parts, ...ofFields]);
}

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

function fieldText({ name, type, required, collection, options, ...rules }: FieldDefinition): string {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== false && value !== undefined);
  const sorted = Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1)));
  const { view_rule: view = null, write_rule: write = null } = rules;
  return [
    `${name}: ${type}${required ? ', required' : ''}${collection ? ` of ${collection}` : ''}`,
    ...(given.length > 0 ? [JSON.stringify(sorted)] : []),
    ...(view === null ? [] : [`view rule: ${ruleWords(view)}`]),
    ...(write === null ? [] : [`write rule: ${ruleWords(write)}`]),
  ].join(', ');
}

/** Returns the differences between a collection's two definitions. */
export function differencesOf(theirs: CollectionValues, mine: CollectionValues): readonly Difference[] {
  const [there, here] = [partsOf(theirs), partsOf(mine)];
  return [...new Set([...there.keys(), ...here.keys()])]
    .map((key) => ({
      name: (there.get(key) ?? here.get(key))?.name ?? key,
      theirs: there.get(key)?.text,
      mine: here.get(key)?.text,
    }))
    .filter((part) => part.theirs !== part.mine);
}
