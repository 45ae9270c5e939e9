import type { CollectionValues, FieldDefinition } from '@recordbus/client';

/** A part of a definition that two admins have defined differently. */
export interface Difference {
  readonly name: string;
  /** Undefined where it is not there. */
  readonly theirs: string | undefined;
  readonly mine: string | undefined;
}

const ruleText = (rule: unknown): string => (rule === null ? 'everyone' : rule === '' ? 'admins only' : String(rule));

/** The parts of a definition by what people call them, as texts to compare. */
function partsOf(values: CollectionValues): Map<string, string> {
  const { fields = [], ...members } = values;
  const parts = Object.entries(members).map(([name, value]): [string, string] => [
    name.replace('_', ' '),
    name.endsWith('_rule') ? ruleText(value) : String(value),
  ]);
  return new Map([...parts, ...fields.map((field): [string, string] => [`field ${field.name}`, fieldText(field)])]);
}

function fieldText({ id: _id, name: _name, options, ...rest }: FieldDefinition): string {
  const sorted = Object.fromEntries(Object.entries(options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
  const { type, required, collection, view_rule: view, write_rule: write } = rest;
  const words = [type, ...(required ? ['required'] : []), ...(collection ? [`of ${collection}`] : [])];
  const rules = [...(view === undefined || view === null ? [] : [`seen by ${ruleText(view)}`])];
  if (write !== undefined && write !== null) rules.push(`written by ${ruleText(write)}`);
  return [words.join(' '), ...(Object.keys(sorted).length > 0 ? [JSON.stringify(sorted)] : []), ...rules].join(', ');
}

/** Returns what differs between two definitions of a collection. */
export function differencesOf(theirs: CollectionValues, mine: CollectionValues): readonly Difference[] {
  const [there, here] = [partsOf(theirs), partsOf(mine)];
  return [...new Set([...there.keys(), ...here.keys()])]
    .map((name) => ({ name, theirs: there.get(name), mine: here.get(name) }))
    .filter((part) => part.theirs !== part.mine);
}
