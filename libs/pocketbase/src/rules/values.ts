import { and, or, test } from './condition.ts';
import type { Value } from './pairs.ts';
import type { Path } from './path.ts';
import type { RequestValue } from './side.ts';
import { isEmpty, isFilled } from './single.ts';
import { Untranslatable } from './untranslatable.ts';

/** A path's text with its modifier. */
export const modifiedText = ({ text, modifier }: Pick<Path, 'text' | 'modifier'>) => {
  if (modifier === 'length') throw new Untranslatable(':length compared with another value');
  return modifier ? `${text}:${modifier}` : text;
};

/** A record's value, for a comparison with another value. */
export function ownValue(path: Path, origin: 'record' | 'outer' = 'record'): Value {
  const prefix = origin === 'outer' ? 'record.' : '';
  const there = { ...path, text: `${prefix}${path.text}`, hop: path.hop && `${prefix}${path.hop}` };
  const isSure = path.isRequired && path.hop === undefined;
  return {
    text: modifiedText(there),
    kind: path.kind,
    empty: isSure ? 'never' : isEmpty(there),
    filled: isSure ? 'always' : isFilled(there),
    mayBeMissing: path.hop !== undefined,
    emptyIs: path.isAddress ? 'both' : path.kind === 'text' ? (path.hop === undefined ? 'text' : 'both') : 'null',
    origin,
  };
}

/** A request's value, for a comparison with another value. */
export function requestValue({ text, kind, modifier, part }: RequestValue): Value {
  if (modifier !== undefined || kind === 'date') throw new Untranslatable(`${text} compared so`);
  if (part === 'method')
    return { text, kind, empty: 'never', filled: 'always', mayBeMissing: false, emptyIs: 'text', origin: 'request' };
  const isText = kind === 'text' || kind === 'choice' || kind === 'id';
  return {
    text,
    kind,
    empty: isText ? or(test(`${text} = null`), test(`${text} = ""`)) : test(`${text} = null`),
    filled: isText ? and(test(`${text} != null`), test(`${text} != ""`)) : test(`${text} != null`),
    mayBeMissing: true,
    emptyIs: isText ? 'both' : 'null',
    origin: 'request',
  };
}
