import { findJsonExcess } from '@recordbus/http';
import { maxColumns, type SourceRow } from './source-row.ts';

/** Parses a row's text as a JSON object, with the limits on a single write's body (http §2.1). */
export function parseObject(bytes: Buffer): Pick<SourceRow, 'members' | 'problem'> {
  const excess = findJsonExcess(bytes);
  if (excess) return refused(excess);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return refused('is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('must be an object');
  if (Object.hasOwn(value, '__proto__')) return refused('must not have the member __proto__');
  if (Object.keys(value).length > maxColumns) return refused(`must have at most ${maxColumns} members`);
  return { members: value as Readonly<Record<string, unknown>> };
}

const refused = (problem: string) => ({ members: {}, problem });
