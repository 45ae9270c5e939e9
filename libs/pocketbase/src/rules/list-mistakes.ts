import type { CallerValue } from './caller-value.ts';
import { exactly, type Meaning } from './meaning.ts';
import type { Path } from './path.ts';
import { isSeveral } from './several.ts';
import type { Operator } from './tree.ts';

/**
 * Compares a list without `:each` with one id of the caller: PocketBase compares its JSON text, so they are never equal.
 * Undefined for other comparisons.
 */
export function compareListWithId(path: Path, operator: Operator, value: CallerValue): Meaning | undefined {
  const { kind, field, modifier } = value.path;
  const isId = kind === 'id' || (kind === 'choice' && field.type === 'relation');
  const isOwnList = path.kind === 'list' && path.hop === undefined && path.modifier === undefined && !isSeveral(path);
  if (!isOwnList || operator !== '=' || !isId || modifier !== undefined || isSeveral(value.path)) return undefined;
  return { ...exactly('never'), mistakes: listMistakes(path, operator, false) };
}

/** What was most likely meant where a whole list is compared with one value. */
export function listMistakes(
  { kind, modifier, several, field: { name, type } }: Path,
  operator: Operator,
  isEmptyTest: boolean,
): string[] {
  if (kind !== 'list' || modifier !== undefined || several || (operator !== '=' && operator !== '!=')) return [];
  const isEqual = operator === '=';
  const what = isEmptyTest ? 'an empty text' : 'one value';
  const values = `${name}${type === 'relation' ? '.id' : ':each'}`;
  const meant = isEmptyTest ? `${name}:length ${isEqual ? '=' : '>'} 0` : `${values} ${isEqual ? '?=' : '!='} …`;
  const says = isEqual ? `never equals ${what}` : `always differs from ${what}`;
  return [`the whole list ${name} ${says} in PocketBase: most likely a mistake, and ${meant} was meant`];
}
