import { isObject } from '../product.ts';
import { badRequest } from '../refusal.ts';

/** What to keep from a value. */
interface Kept {
  /** Whether all of it is kept, perhaps changed. */
  isWhole: boolean;
  modify: ((value: unknown) => unknown) | undefined;
  readonly below: Map<string, Kept>;
}

const maxFields = 1000;

/**
 * Keeps the members that the parameter `fields` names: `id,expand.author.name,text:excerpt(200,true)`, or `*` for all of
 * a level.
 */
export function pickFields(value: unknown, parameter: string | null): unknown {
  const kept = readFields(parameter ?? '');
  return kept.below.size === 0 ? value : pick(value, kept);
}

/** Throws 400 for a modifier that PocketBase does not have. Reads check; a write that is done answers without the member. */
export function checkFields(parameter: string | null): void {
  if (partsOf(parameter ?? '').some((part) => part.includes(':') && !excerptForm.test(part))) throw badRequest();
}

const excerptForm = /^([^:]*):excerpt\((\d{1,6})(?:,\s*(true|false))?\)$/;

/** Commas in parentheses separate a modifier's arguments. */
const partsOf = (text: string): string[] =>
  text
    .split(/,(?![^()]{0,40}\))/, maxFields)
    .map((part) => part.trim())
    .filter((part) => part !== '');

const nothing = (): Kept => ({ isWhole: false, modify: undefined, below: new Map() });

function readFields(text: string): Kept {
  const root = nothing();
  for (const part of partsOf(text)) {
    const [, path = part, max, ellipsis] = excerptForm.exec(part) ?? [];
    let at = root;
    for (const name of path.split('.')) {
      const next = at.below.get(name) ?? nothing();
      at.below.set(name, next);
      at = next;
    }
    at.isWhole = true;
    if (max !== undefined) at.modify = (value) => excerpt(value, Number(max), ellipsis === 'true');
  }
  return root;
}

function pick(value: unknown, kept: Kept): unknown {
  if (Array.isArray(value)) return value.map((one) => pick(one, kept));
  if (!isObject(value)) return value;
  const { below } = kept;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      const one = below.get(name);
      if (!one) return below.has('*') ? [[name, member]] : [];
      return [[name, one.isWhole ? (one.modify?.(member) ?? member) : pick(member, one)]];
    }),
  );
}

/** The beginning of a text, without tags. */
function excerpt(value: unknown, max: number, withEllipsis: boolean): unknown {
  if (typeof value !== 'string') return value;
  const plain = value
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...plain];
  if (characters.length <= max) return plain;
  return `${characters.slice(0, max).join('').trimEnd()}${withEllipsis ? '...' : ''}`;
}
